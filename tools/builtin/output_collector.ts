// Collects the output of a process in bounded memory: the last bytes, counts, and the whole in a file once it
// is over the limits (tools 8.1 rules 6 and 7).

import { concat } from "../../base/bytes.ts";
import type { Truncation } from "../definition.ts";
import { countLineFeeds, Tail } from "../overflow/ends.ts";
import { OverflowFile, type StrayLink } from "../overflow/file.ts";
import { overflowNotice, withNotice } from "../overflow/notice.ts";
import { characterStart, truncateTail } from "../truncate.ts";

/** Bytes of the end of the output that stay in memory. */
export const TAIL_BYTES = 128 * 1024;

export interface CollectorOptions {
  readonly maxLines: number;
  readonly maxBytes: number;
  /** Where the complete output goes once it is over the limits. */
  readonly path: string;
  /** Bytes that file may have. */
  readonly maxFileSize: number;
  readonly strayLink?: StrayLink;
  /** The call, as `ownerOf` names it. */
  readonly owner?: string | null;
}

/**
 * Takes output chunk by chunk. Blanks and line ends at the very end do not count as output, so they are held
 * apart until something follows them.
 */
export class OutputCollector {
  readonly #options: CollectorOptions;
  /** The end of the output, up to its last byte that is not blank. */
  readonly #text: Tail;
  /** The blanks since then. */
  readonly #blanks: Tail;
  #file: OverflowFile | null = null;

  constructor(options: CollectorOptions) {
    this.#options = options;
    // All that was seen before the limits were passed must still be in memory when the file is begun.
    const keep = Math.max(TAIL_BYTES, 2 * options.maxBytes);
    this.#text = new Tail(keep);
    this.#blanks = new Tail(keep);
  }

  /** Takes the next bytes; waits for the file, so that a flood is slowed down instead of piling up. */
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

  /** The text to show, with a notice when it is not the whole output; empty when there was none. Call once. */
  async finish(): Promise<string> {
    const { maxLines, maxBytes, maxFileSize } = this.#options;
    const kept = this.#text.bytes();
    const whole = kept.length === this.#text.total;
    // Memory may begin in the middle of a character; the output itself is decoded from where it begins.
    const start = whole ? 0 : characterStart(kept, 0);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(kept.subarray(start));
    const shown = truncateTail(text, { maxLines, maxBytes });
    if (!shown.truncated) {
      await this.#file?.discard();
      return shown.content;
    }
    this.#file?.close();
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
      lineBytes: this.#text.lastLineBytes,
    });
    return withNotice(shown.content, notice);
  }

  /** Ends without an answer and takes the file away. */
  async abandon(): Promise<void> {
    await this.#file?.discard();
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}
