// Runs one tool and unifies the ways in which it may answer. Never rejects.

import { thrownText } from "../base/problem.ts";
import { after } from "../base/system/timer.ts";
import { realPath } from "../base/disk/real_path.ts";
import { BackgroundBusy } from "../sandbox/process/turns.ts";
import type { FileTurn } from "../sandbox/types.ts";
import {
  type ExecutionContext,
  type ExecutionResult,
  NO_RESULT,
  notExecutable,
  STOPPED,
  type ToolDefinition,
  type ToolInput,
} from "./definition.ts";
import { isExecutable } from "./registry.ts";

/**
 * Milliseconds for a tool that watches the signal itself to end cleanly; longer than bash needs to kill a process
 * group.
 */
const STOP_GRACE = 5000;

/**
 * Runs a tool. The first answer counts: returned, promised or passed to the callback. When the context's signal
 * aborts, the tool's cancel function is called and the result is `STOPPED`. A tool without a cancel function may still
 * answer for a few seconds. Releases the context at the end. The result includes what the sandbox repaired during the
 * call.
 */
export async function runTool(
  definition: ToolDefinition,
  input: ToolInput,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  let result: ExecutionResult;
  try {
    if (!isExecutable(definition)) return { success: false, error: notExecutable(definition.name) };
    if (context.signal.aborted) return { success: false, error: STOPPED };
    result = await inTurn(definition, input, context);
  } finally {
    await context.release?.();
  }
  // If the output is data, the sentences about repairs cannot be added to it; they are added to the next result.
  if (result.success && typeof result.output === "object" && result.output !== null) return result;
  const repaired = context.sandbox.takeRepaired?.() ?? [];
  return withNotes(result, repaired.map((sentence) => `[${sentence} Only the user can undo this.]`));
}

/** Appends paragraphs to the text of a result. */
export function withNotes(result: ExecutionResult, notes: readonly string[]): ExecutionResult {
  if (notes.length === 0) return result;
  const append = (text: unknown) => [String(text ?? ""), ...notes].filter((part) => part !== "").join("\n\n");
  return result.success
    ? { ...result, output: append(result.output) }
    : { ...result, error: append(result.error) };
}

/**
 * Runs a tool that works with files while no command runs. The wait for commands is not part of the tool's time limit.
 */
async function inTurn(
  definition: ToolDefinition,
  input: ToolInput,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  const work = () => firstAnswer(definition, input, context);
  const { sandbox, signal } = context;
  if (definition.files === undefined || sandbox.betweenCommands === undefined) return await work();
  const turn: FileTurn = {
    paths: () => writtenPaths(definition, input, context),
    runsApart: definition.on_disk === true && context.disk !== undefined,
    signal,
    waiting: (whose) => context.onWait?.(`${definition.name} is waiting for a command of ${whose} to end.`),
  };
  try {
    return await sandbox.betweenCommands(definition.files, turn, work);
  } catch (thrown) {
    if (signal.aborted) return { success: false, error: STOPPED };
    if (thrown instanceof BackgroundBusy) return { success: false, error: thrown.message };
    throw thrown;
  }
}

/** Returns where the input's path leads now. A tool without `path_input` may write anywhere. */
function writtenPaths({ path_input }: ToolDefinition, input: ToolInput, context: ExecutionContext): string[] {
  const path = path_input === undefined ? undefined : input[path_input];
  if (typeof path !== "string" || path === "") return [context.cwd];
  const real = realPath(context.path.resolve(path), context.environment.cwd);
  return real === null ? [] : [real];
}

function firstAnswer(
  definition: ToolDefinition,
  input: ToolInput,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  return new Promise((resolve) => {
    let cancel: (() => void) | null = null;
    let endGrace: (() => void) | undefined;
    const settle = (result: ExecutionResult): void => {
      endGrace?.();
      context.signal.removeEventListener("abort", stop);
      resolve(result);
    };
    const answer = (value: unknown): void => settle(resultOf(value));
    const fail = (thrown: unknown): void => {
      settle({ success: false, error: thrownText(thrown) || "The tool failed without an error message." });
    };
    const stop = (): void => {
      if (cancel === null) {
        endGrace ??= after(STOP_GRACE, () => settle({ success: false, error: STOPPED }));
        return;
      }
      try {
        cancel();
      } catch {
        // Even if the cancel function of the tool fails, the call is over for the person.
      }
      settle({ success: false, error: STOPPED });
    };
    const receiveCancel = (given: unknown): void => {
      cancel = given as () => void;
      if (context.signal.aborted) stop();
    };
    context.signal.addEventListener("abort", stop, { once: true });
    let returned: unknown;
    try {
      returned = definition.execute?.(input, context, answer);
    } catch (thrown) {
      fail(thrown);
      return;
    }
    if (typeof returned === "function") {
      receiveCancel(returned);
    } else if (isPromise(returned)) {
      // An `async` function that answers through its callback may resolve with no value long before it calls the
      // callback.
      const mayCallBack = definition.async === true && (definition.execute?.length ?? 0) >= 3;
      returned.then((value) => {
        if (typeof value === "function") receiveCancel(value);
        else if (value !== undefined || !mayCallBack) answer(value);
      }, fail);
    } else if (returned !== undefined || definition.async !== true) {
      answer(returned);
    }
  });
}

/** Returns the tool's answer if it is a result; `success` counts only if it is exactly true. */
function resultOf(value: unknown): ExecutionResult {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { success: false, error: NO_RESULT };
  }
  // Only the run itself may name a job.
  const { error, job: _, ...given } = value as Partial<Record<keyof ExecutionResult | "job", unknown>>;
  const errorMessage = errorText(error);
  return {
    ...given,
    ...(errorMessage === undefined ? {} : { error: errorMessage }),
    success: given.success === true,
  } as ExecutionResult;
}

/**
 * Returns the error of a result as text. The error may be any thrown value, because tools may pass on what they
 * caught.
 */
function errorText(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined;
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error instanceof Error) return thrownText(error);
  try {
    return JSON.stringify(error);
  } catch {
    return String(error); // Cyclic data has no better text form.
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null &&
    typeof (value as { then?: unknown }).then === "function";
}
