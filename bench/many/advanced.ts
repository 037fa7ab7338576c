// Advances a document once with the whole program, in a folder with its own settings and state.

const CLI = new URL("../../cli.ts", import.meta.url).pathname;

/**
 * Writes the document and its settings, and advances it; throws if that fails or `isDone` returns false for the text.
 */
export async function advanced(
  folder: string,
  { document, settings, isDone }: {
    readonly document: string;
    readonly settings: string;
    readonly isDone: (text: string) => boolean;
  },
): Promise<void> {
  await Deno.writeTextFile(`${folder}/a.chat`, document);
  await Deno.writeTextFile(`${folder}/config.yaml`, settings);
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", CLI, "advance", "a.chat", "--no-autopilot", "--config", "config.yaml"],
    cwd: folder,
    env: { XDG_STATE_HOME: `${folder}/state`, XDG_RUNTIME_DIR: `${folder}/run` },
    stderr: "piped",
  }).output();
  if (code !== 0 || !isDone(await Deno.readTextFile(`${folder}/a.chat`))) {
    throw new Error(`the calls did not all run: ${new TextDecoder().decode(stderr).slice(-2000)}`);
  }
}
