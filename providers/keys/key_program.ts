// Starts a program that knows a key. What it says is a secret until it is known to be none.

import type { Environment } from "../../base/environment.ts";
import { thrownText } from "../../base/problem.ts";
import { afterSilence } from "../../base/system/timer.ts";

/** What a helper program said, or why it said nothing. */
export type HelperAnswer = { readonly output: string } | { readonly reason: string };

/** How a helper is started. */
export interface HelperOptions {
  readonly environment: Environment;
  /** Given on standard input; arguments of a process can be seen by everybody on the machine. */
  readonly input?: string;
  /** Variables on top of the person's. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Seconds it may take; a person may have to unlock a keyring meanwhile. @default 60 */
  readonly seconds?: number;
}

/** The absolute path of a program in the person's search path; null when there is none. */
export function findHelper(name: string, { variables, cwd }: Environment): string | null {
  if (name.includes("/")) return isProgram(name.startsWith("/") ? name : `${cwd}/${name}`);
  for (const folder of (variables.PATH ?? "").split(":")) {
    // What other entries mean depends on the folder one happens to stand in.
    const found = folder.startsWith("/") ? isProgram(`${folder}/${name}`) : null;
    if (found !== null) return found;
  }
  return null;
}

function isProgram(path: string): string | null {
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile && ((mode ?? 0o111) & 0o111) !== 0 ? path : null;
  } catch {
    // Not there, or out of reach: both mean that it cannot be started.
    return null;
  }
}

/** Runs a program to its end. Its first line on standard error is the reason of a failure. */
export async function askHelper(
  [program = "", ...args]: readonly string[],
  { environment, input, variables, seconds = 60 }: HelperOptions,
): Promise<HelperAnswer> {
  const ending = new AbortController();
  const inTime = afterSilence(seconds * 1000, () => ending.abort());
  try {
    const child = new Deno.Command(program, {
      args,
      cwd: environment.cwd,
      clearEnv: true,
      env: { ...environment.variables, ...variables },
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      signal: ending.signal,
    }).spawn();
    const [{ success, code, stdout, stderr }] = await Promise.all([
      child.output(),
      input === undefined ? undefined : give(child.stdin, input),
    ]);
    if (ending.signal.aborted) return { reason: `no answer within ${seconds} s` };
    if (success) return { output: new TextDecoder().decode(stdout) };
    const [errorLine = ""] = new TextDecoder().decode(stderr).trim().split("\n");
    return { reason: errorLine === "" ? `it ended with ${code}` : errorLine.slice(0, 200) };
  } catch (thrown) {
    return { reason: thrownText(thrown).replace(/ \(os error \d+\).*$/, "") };
  } finally {
    inTime();
  }
}

async function give(stream: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stream.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // It ended before it read everything; how, its exit code says.
  }
}
