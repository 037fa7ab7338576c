// Runs the person's hook commands after runs. A failed hook does not change the result of the run.

import type { Environment } from "../../base/environment.ts";
import { expandHome } from "../../base/paths.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import type { HookSettings } from "../../config/settings.generated.ts";
import type { Stop, StopReason } from "../../cycle/types.ts";
import { type Running, spawn } from "../../sandbox/mod.ts";
import { namedCode, type NamedCodePlace, namedInShell } from "../../sandbox/outside/named_code.ts";
import { makeOutsidePlace } from "../../sandbox/outside/place.ts";
import { findProgram } from "../../sandbox/process/program.ts";

/** Seconds after which a hook is stopped. */
const SECONDS = 10;

/** The settings of notifications. */
type Notification = Extract<keyof HookSettings, `on_${string}`>;

/** The hook for each stop reason; null if the person stopped the run, or if the run continues automatically. */
const HOOKS: Readonly<Record<StopReason, Notification | null>> = {
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
  "hook": "on_pending",
  "hook-limit": "on_pending",
  "yield": "on_pending",
  // The run did nothing, so there is nothing to report.
  "answered": null,
  "batched": null,
  "throttled": null,
  "stepped": null,
  "diagnostics": "on_error",
  "conflict": "on_error",
  "failed": "on_error",
  "limited": "on_error",
  "empty": "on_error",
  "cancelled": null,
};

export interface HookCall {
  readonly hooks: Pick<HookSettings, "on_pending" | "on_done" | "on_error">;
  readonly environment: Environment;
  /** The person's variables without keys of providers. */
  readonly variables: Readonly<Record<string, string>>;
  /** Real paths that commands in the sandbox can write. */
  readonly roots: readonly string[];
  /** Real path of the document; null when unsaved. */
  readonly document: string | null;
  readonly stop: Stop;
}

/**
 * Runs the hook for the end of a run, for at most ten seconds. The last argument of the hook is the path of the
 * document (`-` if unsaved). The hook runs outside the sandbox, in a folder of its own, with the project's folder in
 * `CLAUDE_PROJECT_DIR` and a line of JSON on standard input. Its standard output is dropped. It does not run if it names
 * something that commands in the sandbox can change.
 *
 * @returns what went wrong; null if no hook is set for this end, or the hook succeeded
 */
export async function runHook(call: HookCall): Promise<Problem | null> {
  const { hooks, environment, document, stop, roots } = call;
  const name = HOOKS[stop.reason];
  const command = name === null ? null : hooks[name];
  if (name === null || command === null) return null;
  const { reason, ids, line, problem } = stop;
  const hookInput = { event: "stopped", hook: name, document, reason, ids, line, problem };
  const made = makeOutsidePlace("hooks", call.variables, environment, roots);
  if (!made.ok) return made.problem;
  const place = made.value;
  const code = codeOf(command, { home: environment.home, folders: [environment.cwd, place.cwd], roots });
  if (code !== null) {
    return {
      code: "hook-in-reach",
      message: `hooks.${name} did not run: it names ${
        visible(code)
      }, which commands in the sandbox can change.`,
      next: "Move it to a folder that is not in sandbox.policy.rw_paths.",
    };
  }
  const found = programOf(command, { ...environment, variables: place.variables }, roots);
  const started = found.ok
    ? spawn([...found.value, document ?? "-"], {
      cwd: place.cwd,
      env: { ...place.variables, CLAUDE_PROJECT_DIR: environment.workFolder ?? environment.cwd },
      stdin: new TextEncoder().encode(`${JSON.stringify(hookInput)}\n`),
    })
    : found;
  const why = started.ok ? await outcomeOf(started.value) : started.problem.message.replace(/\.$/, "");
  return why === null ? null : { code: "hook-failed", message: `hooks.${name} failed: ${visible(why)}.` };
}

function codeOf(command: string | readonly string[], place: NamedCodePlace): string | null {
  return typeof command === "string" ? namedInShell(command, place) : namedCode(command, place);
}

/** The words to run, before the path of the document. */
function programOf(
  command: string | readonly string[],
  environment: Environment,
  roots: readonly string[],
): Outcome<readonly string[]> {
  if (typeof command === "string") return success(["/bin/sh", "-c", command, "sh"]);
  const [name = "", ...args] = command;
  const program = findProgram(expandHome(name, environment.home), environment, roots);
  return program.ok ? success([program.value, ...args]) : program;
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
