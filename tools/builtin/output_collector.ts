// Collects process output in bounded memory: the last bytes, counts, and the complete output in a file once it exceeds
// the limits.

import { concat } from "../../base/bytes.ts";
import type { Problem } from "../../base/problem.ts";
import type { CommandOutput, Truncation } from "../definition.ts";
import { countLineFeeds, TailBuffer } from "../overflow/ends.ts";
import { OverflowFile, type StrayLink } from "../overflow/file.ts";
import { overflowNotice, withNotice } from "../overflow/notice.ts";
import { characterStart, truncateTail } from "../truncate.ts";

/** Number of bytes at the end of the output that stay in memory. */
export const TAIL_BYTES = 128 * 1024;

export interface CollectorOptions {
  readonly maxLines: number;
  readonly maxBytes: number;
  /** Path of the file for the complete output. */
  readonly path: string;
  /** Maximum size of that file in bytes. */
  readonly maxFileSize: number;
  readonly strayLink?: StrayLink;
  /** Identifies the call, as `ownerOf` returns it. */
  readonly owner?: string | null;
  /** Takes all output from the beginning. @default a file at `path`, once the output exceeds the limits */
  readonly file?: OutputFile;
}

/** The file for the complete output. Writing may fail; `problem` says why. */
export interface OutputFile {
  readonly usablePath: string | null;
  readonly problem: Problem | null;
  readonly capped: boolean;
  /** True if the file has beginning and end of output that exceeds its limit. @default it has the beginning */
  readonly bothEnds?: boolean;
  write(bytes: Uint8Array): Promise<void>;
  close(): void | Promise<void>;
  discard(): Promise<void>;
}

/**
 * Accepts output in chunks. Trailing blanks and line ends do not count as output, so they are kept separately until
 * other output follows.
 */
export class OutputCollector implements CommandOutput {
  readonly #options: CollectorOptions;
  /** The end of the output, up to its last byte that is not blank. */
  readonly #text: TailBuffer;
  /** The blanks after the text. */
  readonly #blanks: TailBuffer;
  #file: OutputFile | null;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#file = options.file ?? null;
    // The buffer is so large that it still contains all output when the file is created.
    const keep = Math.max(TAIL_BYTES, 2 * options.maxBytes);
    this.#text = new TailBuffer(keep);
    this.#blanks = new TailBuffer(keep);
  }

  /** Adds bytes; waits for the file, so that fast output is slowed down instead of filling memory. */
  async push(chunk: Uint8Array): Promise<void> {
    if (this.#file === null && this.#passesLimits(chunk)) {
      const { path, maxFileSize, strayLink, owner } = this.#options;
      this.#file = new OverflowFile(path, maxFileSize, strayLink, owner);
      await this.#file.write(concat([this.#text.bytes(), this.#blanks.bytes()]));
    }
    await this.#file?.write(chunk);
    let end = chunk.length;
    while (end > 0 && isBlank(chunk[end - 1])) end--;
    if (end === 0) {
      this.#blanks.push(chunk);
      return;
    }
    this.#text.pushAll(this.#blanks);
    this.#blanks.clear();
    this.#text.push(chunk.subarray(0, end));
    this.#blanks.push(chunk.subarray(end));
  }

  #passesLimits(chunk: Uint8Array): boolean {
    const bytes = this.#text.total + this.#blanks.total + chunk.length;
    const lines = this.#text.lineFeeds + this.#blanks.lineFeeds + countLineFeeds(chunk) + 1;
    return bytes > this.#options.maxBytes || lines > this.#options.maxLines;
  }

  /** The text to show, with a notice if it is incomplete; empty if there was no output. Call once. */
  async finish(): Promise<string> {
    const { maxLines, maxBytes, maxFileSize } = this.#options;
    const kept = this.#text.bytes();
    const whole = kept.length === this.#text.total;
    // If the beginning of the output is no longer in memory, the bytes in memory may begin inside a character.
    const start = whole ? 0 : characterStart(kept, 0);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(kept.subarray(start));
    const shown = truncateTail(text, { maxLines, maxBytes });
    if (!shown.truncated) {
      await this.#file?.discard();
      return shown.content;
    }
    await this.#file?.close();
    const truncation: Truncation = {
      ...shown,
      total_lines: this.#text.lineFeeds + 1,
      total_bytes: whole ? shown.total_bytes : this.#text.total,
    };
    const notice = overflowNotice(truncation, {
      direction: "tail",
      maxBytes,
      path: this.#file?.usablePath ?? null,
      lost: this.#file?.problem?.message,
      cappedAt: this.#file?.capped ? maxFileSize : null,
      bothEnds: this.#file?.bothEnds,
      lineBytes: this.#text.lastLineBytes,
    });
    return withNotice(shown.content, notice);
  }

  /** Ends the collection without a result, and removes the file. */
  async abandon(): Promise<void> {
    await this.#file?.discard();
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}
