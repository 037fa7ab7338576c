// Runs a program that returns a key. Of its output, only the standard error of a failed program is ever shown, because
// everything else may contain the key.

import type { Environment } from "../../base/environment.ts";
import { thrownText } from "../../base/problem.ts";
import type { CredentialQuery } from "./types.ts";
import { afterSilence } from "../../base/system/timer.ts";

/** Output of a helper program, or the reason why there is none. */
export type HelperAnswer = { readonly output: string } | { readonly reason: string };

export interface HelperOptions {
  readonly environment: Environment;
  /** Text for standard input, which other users of the machine cannot see, unlike arguments. */
  readonly input?: string;
  /** Variables added to the person's environment. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Time limit in seconds; long enough for a person to unlock a keyring. @default 60 */
  readonly seconds?: number;
}

/** The query for sources that run programs. */
export function forHelpers(query: CredentialQuery): CredentialQuery {
  return query.helpers === undefined ? query : { ...query, ...query.helpers() };
}

/** Returns the absolute path of a program in PATH; null if not found. */
export function findHelper(name: string, { variables, cwd }: Environment): string | null {
  if (name.includes("/")) return isProgram(name.startsWith("/") ? name : `${cwd}/${name}`);
  for (const folder of (variables.PATH ?? "").split(":")) {
    // Relative entries depend on the current folder, so they are ignored.
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
    // The file is missing or inaccessible, so it cannot be started.
    return null;
  }
}

/** Runs a program to its end. The first line of its standard error explains a failure. */
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
    // The program ended before it read everything. Its exit code says why.
  }
}
