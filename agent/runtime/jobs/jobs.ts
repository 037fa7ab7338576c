// The background jobs of a run: starts them, answers calls about them, and writes their results into the document.

import type { Environment } from "../../../base/environment.ts";
import { textOrEmpty } from "../../../base/is_object.ts";
import { problemLine, thrownText } from "../../../base/problem.ts";
import type { Problem } from "../../../base/problem.ts";
import { stateNotice } from "../../../base/folders.ts";
import { pause } from "../../../base/system/timer.ts";
import type { ToolSettings } from "../../../config/settings.generated.ts";
import type { CycleParts } from "../../../cycle/mod.ts";
import type { CallResult, DocumentStore, Emit, Stop } from "../../../cycle/types.ts";
import { insertJobResults, type JobBlock } from "../../../parser/edits/job_block.ts";
import { markError } from "../../../parser/edits/result_block.ts";
import type { Edit } from "../../../parser/edits/edit.ts";
import type { Call } from "../../../parser/types.ts";
import { documentJobs } from "../../../parser/view/jobs.ts";
import { formatDuration } from "../../../providers/http/patience.ts";
import { LONGEST_JOB_WAIT, NO_JOBS } from "../../../tools/builtin/jobs.ts";
import { BACKGROUND, type BackgroundRun, JOB_STATUS } from "../../../tools/definition.ts";
import { Job } from "./job.ts";
import { lostEnd } from "./lost.ts";
import type { JobOwner, StoppedBy } from "./owner.ts";
import {
  createJobRecord,
  type JobEnd,
  type JobRecord,
  outputPath,
  readJobRecord,
  removeJobRecord,
  stateOf,
  writeJobRecord,
} from "./records.ts";

export interface JobsParts {
  readonly store: DocumentStore;
  readonly environment: Environment;
  readonly settings: Pick<ToolSettings, "jobs" | "truncate">;
  /** True if a run of the document can own jobs. */
  readonly available: boolean;
  readonly emit: Emit;
  /** Runs a call to its end. */
  readonly run: CycleParts["run"];
  readonly preview: (call: Call) => string;
  /** Receives what makes the run of a call with this signal a job. */
  readonly background: WeakMap<AbortSignal, BackgroundRun>;
  readonly owner: JobOwner;
  /** True if the owner keeps jobs after a run. */
  readonly outlives: boolean;
  /** Lets other commands reach the ports of a job that is about to start; false if they cannot. */
  readonly shareNetwork: () => Promise<boolean>;
}

/** A result that the document does not have yet. */
interface Due extends JobEnd {
  readonly id: string;
}

export class Jobs {
  readonly #current: () => JobsParts;
  readonly #jobs = new Map<string, Job>();
  readonly #records = new Map<string, JobRecord>();
  /** The jobs of this run whose results are not in the document. */
  readonly #open = new Set<string>();
  /** Results of jobs of earlier runs. */
  #left: Due[] = [];
  /** Ends the wait for jobs; null while the run does not wait. */
  #waiting: AbortController | null = null;
  readonly #work = new Set<Promise<void>>();
  /** Settles when all records are written. */
  #writing: Promise<void> = Promise.resolve();
  #fault: { readonly thrown: unknown } | null = null;

  /** @param current gives the parts of the run that uses the jobs now */
  constructor(current: () => JobsParts) {
    this.#current = current;
  }

  get #parts(): JobsParts {
    return this.#current();
  }

  /** The jobs whose commands run. */
  get running(): readonly Job[] {
    return [...this.#open].flatMap((id) => this.#jobs.get(id) ?? []).filter(({ end }) => end === null);
  }

  /** Carries out a call that starts, reads or stops a job. */
  async call(call: Call, signal: AbortSignal): Promise<CallResult> {
    if (call.input[BACKGROUND] === true) return await this.#start(call);
    const id = textOrEmpty(call.input.job_id);
    return call.name === JOB_STATUS
      ? await this.#status(id, call.input.wait_seconds, signal)
      : await this.#stop(id);
  }

  async #start(call: Call): Promise<CallResult> {
    const { store: { path }, environment, settings: { jobs: { max, enabled }, truncate }, available, owner } =
      this.#parts;
    if (path === null || !available || !enabled) return failed(NO_JOBS);
    const command = textOrEmpty(call.input.command);
    const running = this.running;
    const same = running.find((job) => job.command === command);
    if (same !== undefined) {
      return { success: true, output: `This command already runs as the background job \`${same.id}\`.` };
    }
    if (running.length >= max) {
      const ids = running.map(({ id }) => id).join(", ");
      return failed(
        `The job was not started: ${running.length} background jobs run already (${ids}). ` +
          "Stop one with flemma.jobs.stop, or wait for its end.",
      );
    }
    const id = newId();
    const job = new Job({ id, call: call.id, command, truncate, path: outputPath(environment, id), owner });
    // Calls of one reply start at the same time, so the job counts before its record is written.
    this.#jobs.set(id, job);
    this.#open.add(id);
    try {
      this.#records.set(
        id,
        await createJobRecord(environment, { job: id, document: path, call: call.id, command }),
      );
    } catch (thrown) {
      this.#jobs.delete(id);
      this.#open.delete(id);
      return failed(`The job was not started, because its record cannot be written: ${thrownText(thrown)}.`);
    }
    const apart = await this.#parts.shareNetwork() ? "" : ` ${APART}`;
    const output =
      `Running as a background job \`${id}\`. It ends ${owner.ends}. Its result comes in a message ` +
      "of its own; until then, nothing is known about it. To read its output, call flemma.jobs.status." +
      apart;
    return {
      success: true,
      output,
      job: { id, begin: () => this.#begin(job, call), abandon: () => this.#abandon(id) },
    };
  }

  #begin(job: Job, call: Call): void {
    const { run, preview, background } = this.#parts;
    // A later run may go on with the job.
    const emit: Emit = (event) => this.#parts.emit(event);
    emit({ event: "job:started", job: job.id, id: call.id, name: call.name, preview: preview(call) });
    background.set(job.signal, job);
    const tell = (text: string) => emit({ event: "job:output", job: job.id, text });
    const ended = run(withoutBackground(call), job.signal, tell).catch((thrown: unknown): CallResult => {
      this.#fault ??= { thrown };
      return failed(`The job ended with an internal error: ${thrownText(thrown)}`);
    });
    this.#track(ended.then(async (result) => {
      job.finish(result);
      await this.#record(job.id, { end: job.end });
      emit({ event: "job:finished", job: job.id, id: call.id, status: job.status, seconds: job.seconds });
    }));
  }

  #abandon(id: string): void {
    this.#open.delete(id);
    this.#jobs.delete(id);
    this.#track(removeJobRecord(this.#parts.environment, id));
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work.catch((thrown: unknown) => {
      this.#fault ??= { thrown };
    }).finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  /** Changes the record of a job. If that fails, a later run may call the job lost. */
  async #record(id: string, change: Partial<JobRecord>): Promise<void> {
    const { environment, emit, store } = this.#parts;
    const record = this.#records.get(id) ?? readJobRecord(environment, id);
    // In a copy of a document, a job is lost; its record belongs to the original.
    if (record === null || record.document !== store.path) return;
    const changed = { ...record, ...change };
    this.#records.set(id, changed);
    // Two changes of one record must not overtake each other on their way to the disk.
    const writing = this.#writing.then(() => writeJobRecord(environment, changed));
    this.#writing = writing.catch(() => {});
    try {
      await writing;
    } catch (thrown) {
      const effect = `The end of the background job ${id} cannot be recorded.`;
      const problem = stateNotice(environment, thrown, effect);
      emit({ event: "notice", code: problem.code, message: problemLine(problem) });
    }
  }

  async #status(id: string, asked: unknown, signal: AbortSignal): Promise<CallResult> {
    const job = this.#jobs.get(id);
    if (job === undefined) return this.#unknown(id);
    const seconds = typeof asked === "number" ? Math.min(asked, LONGEST_JOB_WAIT) : 0;
    if (seconds > 0) await untilFirst(job.ended, seconds * 1000, signal);
    const output = job.takeOutput();
    const state = job.end === null
      ? `running for ${formatDuration(Math.round(job.seconds))}`
      : this.#open.has(id)
      ? `${endWord(job)}. Its result follows in a message of its own`
      : this.#isInDocument(id)
      ? `${endWord(job)}. Its result is above`
      : `${endWord(job)} (removed from conversation)`;
    return {
      success: true,
      output: `State: ${state}.\n\n${output === "" ? "(no new output)" : output}`,
      status: state,
    };
  }

  async #stop(id: string): Promise<CallResult> {
    const job = this.#jobs.get(id);
    if (job === undefined) return this.#unknown(id);
    if (job.end !== null) return { success: true, output: `The job had already ended: ${endWord(job)}.` };
    job.stop("tool");
    await job.ended;
    return { success: true, output: "Stopped. Its result follows in a message of its own." };
  }

  #unknown(id: string): CallResult {
    const { store, environment } = this.#parts;
    const named = documentJobs(store.chat).find((job) => job.id === id);
    const record = readJobRecord(environment, id);
    if (record !== null && record.document !== store.path) {
      return failed(`The job ${id} belongs to another document.`);
    }
    if (named?.finished === true) return { success: true, output: "State: completed. Its result is above." };
    if (record?.delivered === true) {
      return { success: true, output: "State: completed (removed from conversation)." };
    }
    const running = this.running.map((job) => job.id);
    const which = running.length === 0 ? "No job runs." : `Running: ${running.join(", ")}.`;
    return failed(`There is no background job ${JSON.stringify(id.slice(0, 40))} in this run. ${which}`);
  }

  #isInDocument(id: string): boolean {
    return documentJobs(this.#parts.store.chat).some((job) => job.id === id && job.finished);
  }

  /** Stops a running job; false if there is none with this id. */
  stopByPerson(id: string): boolean {
    const job = this.running.find((each) => each.id === id);
    job?.stop("person");
    return job !== undefined;
  }

  /** Ends the wait for jobs; false if the run does not wait. */
  endWait(): boolean {
    this.#waiting?.abort();
    return this.#waiting !== null;
  }

  /** Collects the results that earlier runs left: of jobs that ended with their run, and of lost ones. */
  collect(): void {
    const { store, environment, settings: { truncate } } = this.#parts;
    this.#left = documentJobs(store.chat).flatMap(({ id, finished }): Due[] => {
      if (finished || this.#jobs.has(id)) return [];
      const record = readJobRecord(environment, id);
      const isOurs = record?.document === store.path;
      const state = record === null ? "lost" : stateOf(record);
      if (state === "running" || state === "elsewhere" || (state === "delivered" && isOurs)) return [];
      const end = isOurs && record?.end !== undefined ? record.end : null;
      return [{ id, ...(end ?? lostEnd(isOurs ? outputPath(environment, id) : null, truncate)) }];
    });
  }

  /**
   * Writes the results of jobs that have ended into the document, in one edit.
   *
   * @param asks true if a request follows
   * @returns why they could not be written; null if they are in the document
   */
  async deliver({ asks }: { readonly asks: boolean }): Promise<Problem | null> {
    const due = this.#due();
    if (due.length === 0) return null;
    const { store } = this.#parts;
    const problem = await store.refresh?.() ?? await store.commit(this.#edits(due, asks));
    if (problem !== null) return problem;
    this.#left = [];
    for (const { id } of due) {
      this.#open.delete(id);
      await this.#record(id, { delivered: true });
    }
    return null;
  }

  #due(): Due[] {
    const ended = [...this.#open].flatMap((id): Due[] => {
      const end = this.#jobs.get(id)?.end ?? null;
      return end === null ? [] : [{ id, ...end }];
    });
    return [...this.#left, ...ended];
  }

  #edits(due: readonly Due[], asks: boolean): Edit[] {
    const { chat } = this.#parts.store;
    const named = new Map(documentJobs(chat).map((job) => [job.id, job]));
    const blocks: JobBlock[] = due.filter(({ id }) => named.get(id)?.finished !== true);
    const errors = due.flatMap(({ id, cut }) => {
      const result = cut ? named.get(id)?.result : undefined;
      return result === undefined ? [] : markError(chat, result);
    });
    return [...errors, ...(blocks.length === 0 ? [] : [insertJobResults(chat, blocks, { asks })])];
  }

  /**
   * Ends a run: waits for jobs as long as the settings allow, lets the model answer to those that ended, stops the others
   * unless their owner keeps them, and writes results. Returns how the run ends.
   *
   * @param goOn continues the run
   */
  async finish(stop: Stop, goOn: () => Promise<Stop>, signal: AbortSignal): Promise<Stop> {
    const now = await this.#waited(stop, goOn, signal);
    const isCancelled = signal.aborted || now.reason === "cancelled";
    if (!this.#parts.outlives || isCancelled) await this.end();
    else await this.#deliverAtEnd();
    return now;
  }

  async #waited(stop: Stop, goOn: () => Promise<Stop>, signal: AbortSignal): Promise<Stop> {
    let left = this.#parts.settings.jobs.wait * 1000;
    let now = stop;
    while (now.reason === "done" && left > 0 && this.#open.size > 0 && !signal.aborted) {
      const began = performance.now();
      const waiting = this.#waiting = new AbortController();
      const ended = AbortSignal.any([signal, waiting.signal]);
      await untilFirst(Promise.all(this.running.map((job) => job.ended)), left, ended);
      this.#waiting = null;
      left -= performance.now() - began;
      if (this.#due().length === 0 || ended.aborted) break;
      const problem = await this.deliver({ asks: true });
      // A text that the person types meanwhile must not be sent.
      if (problem !== null || !this.#asks()) break;
      now = await goOn();
    }
    return now;
  }

  /** True if the document ends with the results of jobs. */
  #asks(): boolean {
    const last = this.#parts.store.chat.turns.at(-1)?.segments.findLast(
      (segment) => segment.kind !== "text" || segment.value.trim() !== "",
    );
    return last?.kind === "text" && last.job === true;
  }

  /** Stops every job, and writes the results. */
  async end(): Promise<void> {
    await this.stopAll("run");
    await this.#deliverAtEnd();
  }

  /** Stops every job. Their results are recorded. */
  async stopAll(by: StoppedBy): Promise<void> {
    for (const job of this.running) job.stop(by);
    await this.idle();
  }

  /** Settles when no job runs and the ends of all are recorded. */
  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  /** Writes the results of jobs that have ended. */
  async #deliverAtEnd(): Promise<void> {
    const problem = await this.deliver({ asks: false });
    if (problem !== null) {
      const message = `The results of background jobs could not be written: ${problem.message} ` +
        "The next run writes them.";
      this.#parts.emit({ event: "notice", code: "job-result-unwritten", message });
    }
    if (this.#fault !== null) throw this.#fault.thrown;
  }
}

const APART = "Other commands cannot reach its ports, because the sandbox keeps their networks apart.";

function failed(error: string): CallResult {
  return { success: false, error };
}

function endWord({ status }: Job): string {
  return status === "success" ? "completed" : status === "error" ? "failed" : "stopped";
}

/** The call with only the input that the tool knows. */
function withoutBackground({ kind, id, name, input, inputText, flaw, turn, place }: Call): Call {
  const { [BACKGROUND]: _, ...rest } = input;
  return { kind, id, name, input: rest, inputText, flaw, turn, place };
}

/** Letters of ids, without those that look alike. */
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `job_${Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("")}`;
}

/** Waits for an event, at most that many milliseconds, or until the signal aborts. */
async function untilFirst(event: Promise<unknown>, milliseconds: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  await Promise.race([event, pause(milliseconds, AbortSignal.any([signal, over.signal]))]);
  over.abort();
}
