// Runs a program of the test's set-up.

/** Returns what a program prints. @throws if it fails */
export async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd, env }).output();
  const text = new TextDecoder().decode(stdout);
  if (!success) throw new Error(`${program} ${args.join(" ")}: ${text}${new TextDecoder().decode(stderr)}`);
  return text;
}
