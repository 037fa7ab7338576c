// The folder that holds the project, and running programs in it.

/** Absolute path of the project, without a slash at the end. */
export const ROOT: string = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** Runs a program in the project with our own streams; answers its exit code. */
export async function run(program: string, args: readonly string[]): Promise<number> {
  const child = new Deno.Command(program, {
    args: [...args],
    cwd: ROOT,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  return (await child.status).code;
}

/** Prints one line to standard output. */
export function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
