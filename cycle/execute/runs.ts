// The calls that run now: started, delivered once, or cancelled (tool-cycle 5.2, 5.5).

import type { Problem } from "../../base/problem.ts";
import type { FinalBlock } from "../../parser/edits/result_block.ts";
import { writeResult } from "../../parser/edits/placement.ts";
import type { Call } from "../../parser/types.ts";
import type { ExecutionResult } from "../../tools/definition.ts";
import { errorBlock, finalBlock } from "../final_block.ts";
import type { RunningCalls } from "../plan/plan.ts";
import { CANCELLED } from "../sentences.ts";
import type { Emit } from "../types.ts";
import type { Writer } from "./writer.ts";

interface Run {
  readonly call: Call;
  readonly controller: AbortController;
  /** True once an answer is being written; every later one is dropped. */
  over: boolean;
}

export interface RunsParts {
  readonly writer: Writer;
  run(call: Call, signal: AbortSignal, onOutput: (text: string) => void): Promise<ExecutionResult>;
  preview(call: Call): string;
  readonly emit: Emit;
  /** False once nothing more may be started. */
  mayStart(): boolean;
  /** Keeps a promise in sight until it is done. */
  spawn(work: Promise<void>): void;
  /** Told when the result of a call stands in the document, or could not be put there. */
  onEnd(id: string, yielded: boolean, problem: Problem | null): void;
}

export class Runs implements RunningCalls {
  readonly #parts: RunsParts;
  /** By id, in the order they were started; a call stays until its result is in the document. */
  readonly #running = new Map<string, Run>();

  constructor(parts: RunsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#running.size;
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  /**
   * Starts a call once its start is journalled, unless everything was cancelled meanwhile. The inner promise
   * settles when the result is in the document, or when a cancelled tool has ended.
   */
  async start(call: Call): Promise<{ readonly ended: Promise<void> } | Problem> {
    const { writer, emit } = this.#parts;
    const problem = await writer.journal((journal) => journal.recordStart(call.id, call.name));
    if (problem !== null) return problem;
    if (!this.#parts.mayStart()) {
      const ended = writer.journal((journal) => journal.recordEnd(call.id));
      return await ended ?? { ended: Promise.resolve() };
    }
    const run: Run = { call, controller: new AbortController(), over: false };
    this.#running.set(call.id, run);
    emit({ event: "tool:executing", id: call.id, name: call.name, preview: this.#parts.preview(call) });
    const ended = this.#parts
      .run(call, run.controller.signal, (text) => {
        if (!run.over) emit({ event: "tool:output", id: call.id, text });
      })
      .then((result) => this.#deliver(run, result));
    this.#parts.spawn(ended);
    return { ended };
  }

  /** Cancels the call that was started first; its id, or null when none runs. */
  cancelFirst(): string | null {
    for (const run of this.#running.values()) {
      if (!run.over) return this.#cancel(run);
    }
    return null;
  }

  /** Cancels one running call. False when it does not run. */
  cancel(id: string): boolean {
    const run = this.#running.get(id);
    if (run === undefined || run.over) return false;
    this.#cancel(run);
    return true;
  }

  /** Cancels every running call; their ids. */
  cancelAll(): string[] {
    return [...this.#running.values()].filter((run) => !run.over).map((run) => this.#cancel(run));
  }

  #cancel(run: Run): string {
    run.over = true;
    run.controller.abort();
    this.#parts.spawn(this.#write(run, errorBlock(CANCELLED), null));
    return run.call.id;
  }

  async #deliver(run: Run, result: ExecutionResult): Promise<void> {
    if (run.over) return;
    run.over = true;
    await this.#write(run, finalBlock(result), result);
  }

  /** Puts the block of a run in the document; `result` is null for a run that was cancelled. */
  async #write(run: Run, block: FinalBlock, result: ExecutionResult | null): Promise<void> {
    const { writer, emit, onEnd } = this.#parts;
    const { id, name } = run.call;
    let problem = await writer.commit(async (chat) => {
      const call = chat.call(id);
      if (call === undefined) return goneProblem(id);
      const body = chat.result(id)?.content ?? "";
      if (body !== "" && body !== block.content) {
        const kept = await writer.keepBody(id, body, `The body of the block ${id} made room for the result`);
        if (kept !== null) return kept;
      }
      return writeResult(chat, call, block);
    });
    if (problem === null) {
      problem = await writer.journal((journal) => journal.recordEnd(id));
    } else {
      // The start stays in the journal, so the next run asks the person instead of running the call again.
      const why = `The result of ${id} could not be written into the document`;
      const lost = result === null ? null : await writer.keepBody(id, block.content, why);
      if (lost !== null) emit({ event: "notice", code: lost.code, message: `${why}. ${lost.message}`, id });
    }
    this.#running.delete(id);
    emit({
      event: "tool:finished",
      id,
      name,
      status: block.error ? "error" : "success",
      ...(result?.status === undefined ? {} : { note: result.status }),
    });
    onEnd(id, result?.yieldToUser === true, problem);
  }
}

function goneProblem(id: string): Problem {
  return {
    code: "call-gone",
    message: `The call ${id} left the document while it was running.`,
    next: "Put the call back, or start it anew.",
  };
}
