// Runs a small helper program to its end within a time limit.

import { type Outcome, success } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import { type ExitStatus, spawn, type SpawnOptions } from "./spawn.ts";

/** Maximum number of characters of output that are returned. Longer output is read to its end, but cut. */
const KEPT = 64 * 1024;

export interface BriefRun extends ExitStatus {
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** Runs `argv` with empty standard input, and kills its whole group after `limit` milliseconds. */
export async function runBriefly(
  argv: readonly string[],
  options: SpawnOptions,
  limit: number,
): Promise<Outcome<BriefRun>> {
  const started = spawn(argv, options);
  if (!started.ok) return started;
  const running = started.value;
  let timedOut = false;
  const inTime = after(limit, () => {
    timedOut = true;
    running.kill();
  });
  try {
    const output = Promise.all([readText(running.stdout), readText(running.stderr)]);
    const status = await running.status;
    // Processes that the helper left behind would keep the pipes open.
    await running.kill();
    const [stdout, stderr] = await output;
    return success({ ...status, stdout, stderr, timedOut });
  } finally {
    inTime();
  }
}

async function readText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    if (text.length < KEPT) text += decoder.decode(chunk, { stream: true });
  }
  return text;
}
