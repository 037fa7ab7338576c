// One background job: its command, its output since the last look, and how it ended.

import { plural } from "../../../base/text/plural.ts";
import { formatDuration } from "../../../providers/http/patience.ts";
import type { ToolSettings } from "../../../config/settings.generated.ts";
import type { CallResult } from "../../../cycle/types.ts";
import { finalBlock } from "../../../cycle/plan/final_block.ts";
import { OutputCollector } from "../../../tools/builtin/output_collector.ts";
import type { BackgroundRun, CommandOutput } from "../../../tools/definition.ts";
import { BothEndsFile } from "../../../tools/overflow/both_ends.ts";
import { TailBuffer } from "../../../tools/overflow/ends.ts";
import { characterStart, truncateTail } from "../../../tools/truncate.ts";
import { type JobOwner, RUN, type StoppedBy } from "./owner.ts";
import type { JobEnd } from "./records.ts";

/** Maximum number of bytes of the file with the output: half for the beginning, half for the end. */
const MOST_OUTPUT = 50 * 1024 * 1024;

export interface JobParts {
  readonly id: string;
  /** The call that started the job. */
  readonly call: string;
  readonly command: string;
  readonly truncate: ToolSettings["truncate"];
  /** Path of the file with the output. */
  readonly path: string;
  readonly owner: JobOwner;
}

/** A job of this process. */
export class Job implements BackgroundRun {
  readonly id: string;
  readonly call: string;
  readonly command: string;
  readonly #parts: JobParts;
  readonly #controller = new AbortController();
  readonly #began = performance.now();
  readonly #ended = Promise.withResolvers<void>();
  #output: JobOutput | null = null;
  #stoppedBy: StoppedBy | null = null;
  #end: JobEnd | null = null;

  constructor(parts: JobParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.call = parts.call;
    this.command = parts.command;
  }

  /** Settles when the command has ended and its result is known. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The result; null while the job runs. */
  get end(): JobEnd | null {
    return this.#end;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get seconds(): number {
    return Math.round((performance.now() - this.#began) / 100) / 10;
  }

  get status(): "success" | "error" | "stopped" {
    return this.#stoppedBy !== null ? "stopped" : this.#end?.error === true ? "error" : "success";
  }

  /** Asks the command to end. */
  stop(by: StoppedBy): void {
    if (this.#end !== null) return;
    this.#stoppedBy ??= by;
    this.#controller.abort();
  }

  /** Records how the command ended. */
  finish(result: CallResult): void {
    const { content, error } = finalBlock(result);
    const cut = this.#stoppedBy !== null;
    this.#end = { content, error: error || cut, cut };
    this.#ended.resolve();
  }

  createOutput(): CommandOutput {
    return this.#output = new JobOutput(this.#parts);
  }

  stopped(): string {
    const time = formatDuration(Math.max(1, Math.round(this.seconds)));
    switch (this.#stoppedBy) {
      case "tool":
        return `Stopped by flemma.jobs.stop after ${time}.`;
      case "person":
        return `Stopped by the user after ${time}.`;
      case "settings":
        return `Stopped after ${time}, because the settings changed.`;
      case "host":
        return `Stopped ${this.#parts.owner.stopped} after ${time}.`;
      default:
        return `Stopped ${RUN.stopped} after ${time}.`;
    }
  }

  /** Returns the output since the last call of this function. */
  takeOutput(): string {
    return this.#output?.take() ?? "";
  }
}

/** Keeps the end of the output, the output that was not read yet, and a file with everything. */
class JobOutput implements CommandOutput {
  readonly #truncate: ToolSettings["truncate"];
  readonly #collector: OutputCollector;
  readonly #path: string;
  #unread: TailBuffer;

  constructor({ truncate, path }: JobParts) {
    this.#truncate = truncate;
    this.#path = path;
    const { max_lines: maxLines, max_bytes: maxBytes } = truncate;
    this.#collector = new OutputCollector({
      maxLines,
      maxBytes,
      maxFileSize: MOST_OUTPUT,
      path,
      file: new BothEndsFile(path, MOST_OUTPUT),
    });
    this.#unread = new TailBuffer(maxBytes);
  }

  async push(chunk: Uint8Array): Promise<void> {
    this.#unread.push(chunk);
    await this.#collector.push(chunk);
  }

  finish(): Promise<string> {
    return this.#collector.finish();
  }

  abandon(): Promise<void> {
    return this.#collector.abandon();
  }

  take(): string {
    const kept = this.#unread.bytes();
    const omitted = this.#unread.total - kept.length;
    this.#unread = new TailBuffer(this.#truncate.max_bytes);
    const text = new TextDecoder().decode(kept.subarray(omitted > 0 ? characterStart(kept, 0) : 0));
    const { max_lines: maxLines, max_bytes: maxBytes } = this.#truncate;
    const shown = truncateTail(text.trimEnd(), { maxLines, maxBytes });
    if (omitted === 0 && !shown.truncated) return shown.content;
    const lines = plural(shown.output_lines, "line");
    return `[Only the last ${lines} since the last look. Complete output: ${this.#path}]\n${shown.content}`;
  }
}
