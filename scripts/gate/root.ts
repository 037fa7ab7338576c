// The project's root folder, and functions that run programs in it.

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

/** Runs a program in the project; when it has ended, prints its output in one piece and returns its exit code. */
export async function runCaptured(program: string, args: readonly string[]): Promise<number> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd: ROOT,
    stdin: "null",
  }).output();
  for (const output of [stdout, stderr]) {
    for (let at = 0; at < output.length;) at += Deno.stdout.writeSync(output.subarray(at));
  }
  return code;
}

export function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
