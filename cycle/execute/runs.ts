// The calls that run now: starts them, delivers each result once, cancels them.

import { failed, type Outcome, type Problem, problemLine, success } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import type { FinalBlock } from "../../parser/edits/result_block.ts";
import { writeResult } from "../../parser/edits/placement.ts";
import {
  isPlaceholder,
  placeholderStyle,
  setQuestions,
  setWaiting,
} from "../../parser/edits/result_block.ts";
import type { Call } from "../../parser/types.ts";
import type { AsksPerson, Effects, ExecutionResult, WaitsElsewhere } from "../../tools/definition.ts";
import { finalBlock, stoppedBlock } from "../plan/final_block.ts";
import type { RunningCalls } from "../plan/types.ts";
import { CANCELLED } from "../plan/sentences.ts";
import type { CallResult, Emit } from "../types.ts";
import { Results } from "./results.ts";
import type { Writer } from "./writer.ts";

interface Run {
  readonly call: Call;
  readonly controller: AbortController;
  /** True as soon as an answer is being written; later answers are dropped. */
  over: boolean;
  /** Called when the block of a stopped run is written; null if the run was not stopped. */
  stopped: (() => void) | null;
  /** The end of the tool's output so far. */
  output: string;
  /** Block content written when the user stopped the run; null if none was written. */
  written: string | null;
}

/** Number of characters of output that are kept in case the user stops a run. */
const OUTPUT_KEPT = 32_768;

/** Milliseconds within which a stopped tool must return its output; shorter than the time for a terminated process. */
const STOP_PATIENCE = 2500;

export interface RunsParts {
  readonly writer: Writer;
  effects(call: Call): Effects;
  run(call: Call, signal: AbortSignal, onOutput: (text: string) => void): Promise<CallResult>;
  preview(call: Call): string;
  readonly emit: Emit;
  /** False once nothing more may be started. */
  mayStart(): boolean;
  /** Tracks background work. */
  spawn(work: Promise<void>): void;
  /** Returns the document in which a call waits instead of having a result; null if it has one. */
  waitsElsewhere(call: Call, result: ExecutionResult): WaitsElsewhere | null;
  /** Called when the document shows that a call waits in another one. */
  onWait(waits: WaitsElsewhere): void;
  /** Returns what the server of a call asks the person; null if it asks nothing. */
  asksPerson(call: Call, result: ExecutionResult): AsksPerson | null;
  /** Called when the result of a call is in the document, or could not be written. */
  onEnd(id: string, yielded: boolean, problem: Problem | null): void;
}

export class Runs implements RunningCalls {
  readonly #parts: RunsParts;
  /** Running calls by id, in the order of starting. A call stays in the map until its result is in the document. */
  readonly #running = new Map<string, Run>();
  readonly #results: Results;
  /** Ids of calls that did not run, because the person has to do something else first. */
  readonly #held = new Set<string>();

  constructor(parts: RunsParts) {
    this.#parts = parts;
    this.#results = new Results(parts);
  }

  get size(): number {
    return this.#running.size;
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** True if a call did not run, because the person has to do something else first. */
  isHeld(id: string): boolean {
    return this.#held.has(id);
  }

  /** Lets held calls start again, as the person continues the run. */
  releaseHeld(): void {
    this.#held.clear();
  }

  /** The running calls that were not stopped, in the order of starting. */
  get calls(): readonly Call[] {
    return [...this.#running.values()].filter(isRunning).map(({ call }) => call);
  }

  /**
   * Records the start of a call in the journal, then runs it, unless everything was cancelled meanwhile. The inner
   * promise settles when the tool has answered; its result is then about to be written.
   */
  async start(call: Call): Promise<Outcome<{ readonly answered: Promise<void> }>> {
    const { writer, emit } = this.#parts;
    const effects = this.#parts.effects(call);
    const problem = await writer.journal((journal) => journal.recordStart(call.id, call.name, effects));
    if (problem !== null) return failed(problem);
    if (!this.#parts.mayStart()) {
      await writer.recordEnd(call.id);
      return success({ answered: Promise.resolve() });
    }
    const run: Run = {
      call,
      controller: new AbortController(),
      over: false,
      stopped: null,
      output: "",
      written: null,
    };
    this.#running.set(call.id, run);
    emit({ event: "tool:executing", id: call.id, name: call.name, preview: this.#parts.preview(call) });
    const answer = this.#parts
      .run(call, run.controller.signal, (text) => {
        run.output = `${run.output}${text}`.slice(-OUTPUT_KEPT);
        if (isRunning(run)) emit({ event: "tool:output", id: call.id, text });
      });
    const answered = answer.then((result) => {
      this.#parts.spawn(this.#deliver(run, result));
    });
    this.#parts.spawn(answered);
    return success({ answered });
  }

  /** Waits until the results of all calls that have answered are in the document, or are known not to be. */
  written(): Promise<void> {
    return this.#results.written();
  }

  /** Cancels one running call; false if it is not running. */
  cancel(id: string): boolean {
    const run = this.#running.get(id);
    if (run === undefined || !isRunning(run)) return false;
    this.#cancel(run);
    return true;
  }

  /** Cancels every running call; returns their ids. */
  cancelAll(): string[] {
    return [...this.#running.values()].filter(isRunning).map((run) => this.#cancel(run));
  }

  /**
   * Stops a run. Its output so far goes into the document immediately, because the user may end the program next. If
   * the tool's own answer arrives in time, it replaces that output.
   */
  #cancel(run: Run): string {
    this.#parts.spawn(this.#writeAtOnce(run));
    const stopped = new Promise<void>((resolve) => {
      const endPatience = after(STOP_PATIENCE, () => void this.#deliver(run, null).finally(resolve));
      run.stopped = () => {
        endPatience();
        resolve();
      };
    });
    this.#parts.spawn(stopped);
    run.controller.abort();
    return run.call.id;
  }

  async #writeAtOnce(run: Run): Promise<void> {
    const block = stoppedBlock({ success: false, output: run.output });
    const { id } = run.call;
    const problem = await this.#parts.writer.commit((chat) => {
      const call = chat.call(id);
      // If the call is gone or its block has other text, that is reported later, when the answer is written.
      if (run.over || call === undefined || (chat.result(id)?.content ?? "") !== "") return success([]);
      run.written = block.content;
      return success(writeResult(chat, call, block));
    });
    if (problem !== null) run.written = null;
  }

  /** Takes the first answer of a run; null if a stopped run gave none. */
  async #deliver(run: Run, result: CallResult | null): Promise<void> {
    if (run.over || run.stopped !== null) result?.job?.abandon();
    if (run.over) return;
    run.over = true;
    try {
      const waits = run.stopped !== null || result === null
        ? null
        : this.#parts.waitsElsewhere(run.call, result);
      const asks = run.stopped !== null || result === null ? null : this.#parts.asksPerson(run.call, result);
      if (waits !== null) await this.#leaveOpen(run, waits);
      else if (asks !== null) await this.#askPerson(run, asks);
      else if (run.stopped === null && result?.needs !== undefined) await this.#hold(run, result.needs);
      else if (run.stopped === null && result !== null) await this.#write(run, finalBlock(result), result);
      else await this.#write(run, stoppedBlock(result ?? { success: false, output: run.output }), null);
    } finally {
      run.stopped?.();
    }
  }

  /** Sets the block of a call that waits in another document to pending. */
  async #leaveOpen({ call: { id, name } }: Run, waits: WaitsElsewhere): Promise<void> {
    const { writer, emit, onEnd, onWait } = this.#parts;
    const problem = await writer.commit((chat) => {
      const result = chat.result(id);
      // A block with a text, or one that the person decided meanwhile, stays as it is.
      const isOpen = result?.status === "approved" || result?.status === "pending";
      if (result === undefined || !isOpen || result.content !== "") return success([]);
      return success(setWaiting(chat, result, waits.helper, placeholderStyle(chat, "auto")));
    });
    if (problem === null) await writer.recordEnd(id);
    this.#running.delete(id);
    const { helper, document: path, message } = waits;
    emit({ event: "tool:waiting", id, name, helper, path, message });
    onWait(waits);
    onEnd(id, false, problem);
  }

  /** Writes what a server asks into the block of its call, which then waits for the person. */
  async #askPerson({ call }: Run, { questions, state, message }: AsksPerson): Promise<void> {
    const { writer, emit, onEnd } = this.#parts;
    const { id, name } = call;
    const problem = await writer.recordAsked(call, state) ?? await writer.commit((chat) => {
      const result = chat.result(id);
      const isOpen = result !== undefined && isPlaceholder(result) && result.content === "";
      if (!isOpen) return success([]);
      return success([setQuestions(chat, result, questions, "pending", placeholderStyle(chat, "auto"))]);
    });
    if (problem === null) await writer.recordEnd(id);
    this.#running.delete(id);
    const line = writer.lineOf(id);
    const place = line === null ? "" : ` (line ${line})`;
    emit({ event: "tool:waiting", id, name, helper: null, path: null, message: `${message}${place}` });
    onEnd(id, false, problem);
  }

  /** Leaves the block of a call that did not run as it is, so that the call keeps who approved it. */
  async #hold({ call: { id, name } }: Run, needs: Problem): Promise<void> {
    const { writer, emit, onEnd } = this.#parts;
    await writer.recordEnd(id);
    this.#running.delete(id);
    this.#held.add(id);
    emit({ event: "tool:finished", id, name, status: "error", note: needs.message });
    emit({ event: "notice", code: needs.code, message: problemLine(needs), id });
    onEnd(id, true, null);
  }

  /** Writes the block of a run into the document; `result` is null for a cancelled run. */
  async #write(run: Run, block: FinalBlock, result: CallResult | null): Promise<void> {
    const { writer, emit, onEnd } = this.#parts;
    const { id, name } = run.call;
    const problem = await this.#results.put({ id, block, written: () => run.written });
    if (problem === null) {
      await writer.recordEnd(id, { ran: true });
      result?.job?.begin();
    } else {
      result?.job?.abandon();
      // The start stays in the journal, so the next run asks the user instead of running the call again.
      const why = `Could not write the result of ${id} into the document`;
      const keep = (content: string) =>
        result === null ? writer.keepBody(id, content, why) : writer.keepResult(id, content, why);
      const lost = block.content === CANCELLED ? null : await keep(block.content);
      if (lost !== null) emit({ event: "notice", code: lost.code, message: `${why}. ${lost.message}`, id });
    }
    this.#running.delete(id);
    const note = result === null ? undefined : noteOf(result);
    emit({
      event: "tool:finished",
      id,
      name,
      status: block.error ? "error" : "success",
      ...(note === undefined ? {} : { note }),
    });
    onEnd(id, result?.yieldToUser === true, problem);
  }
}

/** The note of an ended call: the tool's own, else the first line of its error. */
function noteOf({ status, success, error }: ExecutionResult): string | undefined {
  if (status !== undefined || success) return status;
  const line = error?.trim().split("\n", 1)[0];
  return line === "" ? undefined : line;
}

function isRunning(run: Run): boolean {
  return !run.over && run.stopped === null;
}
