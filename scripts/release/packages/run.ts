// Runs system programs that make packages.

/**
 * Runs a program and returns its output.
 * @throws if it is missing or fails, with its error output
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

/** Returns the output of git in a checkout, without the final line end. */
export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  return new TextDecoder().decode(await output("git", args, { cwd: folder })).trimEnd();
}
