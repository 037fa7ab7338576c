// Commands of the person's own that tell of runs. Whatever they do, the run stays as it was.

import type { Environment } from "../../base/environment.ts";
import type { Problem } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import type { HookSettings } from "../../config/settings.ts";
import type { Stop, StopReason } from "../../cycle/types.ts";
import { type Running, spawn } from "../../sandbox/mod.ts";

/** Seconds that a hook may take. */
const SECONDS = 10;

/** Which hook tells of a run that ended so; null for one that the person ended, or that goes on by itself. */
const HOOKS: Readonly<Record<StopReason, keyof HookSettings | null>> = {
  "done": "on_done",
  "cut": "on_pending",
  "last-word": "on_pending",
  "pending": "on_pending",
  "unanswered": "on_pending",
  "protected": "on_pending",
  "turn-limit": "on_pending",
  "repeats": "on_pending",
  "context-full": "on_pending",
  "budget": "on_pending",
  "yield": "on_pending",
  // Nothing was done, so there is nothing to tell.
  "answered": null,
  "throttled": null,
  "stepped": null,
  "diagnostics": "on_error",
  "conflict": "on_error",
  "failed": "on_error",
  "empty": "on_error",
  "cancelled": null,
};

/** A run that is over, and whom to tell. */
export interface HookCall {
  readonly hooks: HookSettings;
  readonly environment: Environment;
  /** Real path of the document; null when unsaved. */
  readonly document: string | null;
  readonly stop: Stop;
}

/**
 * Runs the hook for a run that ended, to its end or for ten seconds. It has the person's environment, the path of the
 * document (`-` for an unsaved one) as its last argument, and a line of JSON on standard input; what it prints is dropped.
 *
 * @returns what went wrong with it; null when there is none for such a run, or it did well
 */
export async function runHook({ hooks, environment, document, stop }: HookCall): Promise<Problem | null> {
  const name = HOOKS[stop.reason];
  const command = name === null ? null : hooks[name];
  if (name === null || command === null) return null;
  const { reason, ids, line, problem } = stop;
  const reported = { event: "stopped", hook: name, document, reason, ids, line, problem };
  const started = spawn(wordsOf(command, document ?? "-"), {
    cwd: environment.cwd,
    env: environment.variables,
    stdin: new TextEncoder().encode(`${JSON.stringify(reported)}\n`),
  });
  const why = started.ok ? await outcomeOf(started.value) : started.problem.message.replace(/\.$/, "");
  return why === null
    ? null
    : { code: "hook-failed", message: `The command of hooks.${name} did not do well: ${visible(why)}.` };
}

function wordsOf(command: string | readonly string[], path: string): readonly string[] {
  return typeof command === "string" ? ["/bin/sh", "-c", command, "sh", path] : [...command, path];
}

/** Why a hook did not do well, as the end of a sentence; null when it did. */
async function outcomeOf(running: Running): Promise<string | null> {
  const errorLine = firstLine(running.stderr);
  running.stdout.pipeTo(new WritableStream()).catch(() => {});
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((done) => timer = setTimeout(() => done(null), SECONDS * 1000));
  const status = await Promise.race([running.status, late]);
  clearTimeout(timer);
  if (status === null) {
    await running.kill();
    return `it was ended after ${SECONDS} seconds`;
  }
  if (status.code === 0) return null;
  // What it left in the background may hold the stream open.
  const line = await Promise.race([
    errorLine.line,
    new Promise<string>((done) => setTimeout(() => done(""), 100)),
  ]);
  return line === ""
    ? `it ended with ${status.code}`
    : `${line.slice(0, 200)} (it ended with ${status.code})`;
}

/** The first line of a stream, which is read to its end. */
function firstLine(stream: ReadableStream<Uint8Array>): { readonly line: Promise<string> } {
  let text = "";
  const line = new Promise<string>((done) => {
    const decoder = new TextDecoder();
    stream.pipeTo(
      new WritableStream({
        write(piece) {
          if (text.length < 1000) text += decoder.decode(piece, { stream: true });
          if (text.includes("\n")) done(text.split("\n")[0]!.trim());
        },
      }),
    ).catch(() => {}).finally(() => done(text.trim()));
  });
  return { line };
}
