// Programs of the system that make packages.

/**
 * Runs a program, and answers what it printed.
 *
 * @throws When it is not there or fails, with what it said.
 */
export async function output(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], ...options })
    .output();
  if (!success) throw new Error(`${program} ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
  return stdout;
}

/** What git says of a checkout, without the end of the last line. */
export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  return new TextDecoder().decode(await output("git", args, { cwd: folder })).trimEnd();
}
