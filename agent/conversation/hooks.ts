// Runs the person's hook commands after runs. A failed hook does not change the result of the run.

import type { Environment } from "../../base/environment.ts";
import type { Problem } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import type { HookSettings } from "../../config/settings.generated.ts";
import type { Stop, StopReason } from "../../cycle/types.ts";
import { type Running, spawn } from "../../sandbox/mod.ts";

/** Seconds after which a hook is stopped. */
const SECONDS = 10;

/** The hook for each stop reason; null if the person stopped the run, or if the run continues automatically. */
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
  // The run did nothing, so there is nothing to report.
  "answered": null,
  "throttled": null,
  "stepped": null,
  "diagnostics": "on_error",
  "conflict": "on_error",
  "failed": "on_error",
  "empty": "on_error",
  "cancelled": null,
};

export interface HookCall {
  readonly hooks: HookSettings;
  readonly environment: Environment;
  /** Real path of the document; null when unsaved. */
  readonly document: string | null;
  readonly stop: Stop;
}

/**
 * Runs the hook for the end of a run, for at most ten seconds. The last argument of the hook is the path of the
 * document (`-` if unsaved). The hook gets the person's environment, and a line of JSON on standard input. Its
 * standard output is dropped.
 *
 * @returns what went wrong; null if no hook is set for this end, or the hook succeeded
 */
export async function runHook({ hooks, environment, document, stop }: HookCall): Promise<Problem | null> {
  const name = HOOKS[stop.reason];
  const command = name === null ? null : hooks[name];
  if (name === null || command === null) return null;
  const { reason, ids, line, problem } = stop;
  const hookInput = { event: "stopped", hook: name, document, reason, ids, line, problem };
  const started = spawn(wordsOf(command, document ?? "-"), {
    cwd: environment.cwd,
    env: environment.variables,
    stdin: new TextEncoder().encode(`${JSON.stringify(hookInput)}\n`),
  });
  const why = started.ok ? await outcomeOf(started.value) : started.problem.message.replace(/\.$/, "");
  return why === null ? null : { code: "hook-failed", message: `hooks.${name} failed: ${visible(why)}.` };
}

function wordsOf(command: string | readonly string[], path: string): readonly string[] {
  return typeof command === "string" ? ["/bin/sh", "-c", command, "sh", path] : [...command, path];
}

/** Returns why a hook failed, as the end of a sentence; null if it succeeded. */
async function outcomeOf(running: Running): Promise<string | null> {
  const errorLine = firstLine(running.stderr);
  running.stdout.pipeTo(new WritableStream()).catch(() => {});
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((done) => timer = setTimeout(() => done(null), SECONDS * 1000));
  const status = await Promise.race([running.status, late]);
  clearTimeout(timer);
  if (status === null) {
    await running.kill();
    return `it was stopped after ${SECONDS} seconds`;
  }
  if (status.code === 0) return null;
  // A background process of the hook may keep the stream open.
  const line = await Promise.race([
    errorLine.line,
    new Promise<string>((done) => setTimeout(() => done(""), 100)),
  ]);
  return line === "" ? `exit code ${status.code}` : `${line.slice(0, 200)} (exit code ${status.code})`;
}

/** Reads a stream to its end, and returns its first line as soon as it is known. */
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
