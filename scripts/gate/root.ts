// The project's root folder, and running programs in it.

/** Absolute path of the project, without a final slash. */
export const ROOT: string = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** Runs a program in the project with inherited streams; returns its exit code. */
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

export function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
