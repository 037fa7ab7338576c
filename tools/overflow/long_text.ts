// Shortens text of any length for a result: it keeps one end, and writes the whole text to a file once it exceeds the
// limits. Text arrives in pieces, and memory holds no more than is shown.

import type { Environment } from "../../base/environment.ts";
import { SecretStream } from "../../base/text/secrets.ts";
import type { TextInPieces } from "../definition.ts";
import { characterStart, truncateHead, truncateTail } from "../truncate.ts";
import { countLineFeeds, HeadBuffer, TailBuffer } from "./ends.ts";
import {
  OverflowFile,
  overflowPath,
  type OverflowPlace,
  ownerOf,
  type StrayLink,
  type TruncateSettings,
} from "./file.ts";
import { overflowNotice, withNotice } from "./notice.ts";

/** Number of characters processed in one piece. */
const PIECE = 64 * 1024;

/** Options for shortening a text with an overflow file. */
export interface OverflowOptions extends OverflowPlace {
  readonly direction: "head" | "tail";
  readonly settings: TruncateSettings;
  readonly environment: Environment;
  readonly strayLink?: StrayLink;
  readonly maxLines?: number;
  readonly maxBytes?: number;
}

/**
 * Returns text within the limits unchanged. Longer text is shortened, its complete form written to a file, and a notice
 * appended. If the file cannot be written, the notice says why.
 */
export async function truncateWithOverflow(text: string, options: OverflowOptions): Promise<string> {
  const long = new OverflowText(options);
  for (let at = 0; at < text.length; at += PIECE) await long.push(text.slice(at, at + PIECE));
  return await long.finish();
}

/** Accepts a text in pieces. */
export class OverflowText implements TextInPieces {
  readonly #options: OverflowOptions;
  readonly #maxLines: number;
  readonly #maxBytes: number;
  readonly #end: HeadBuffer | TailBuffer;
  readonly #encoder = new TextEncoder();
  readonly #secrets = new SecretStream();
  #file: OverflowFile | null = null;
  /** A high surrogate whose low surrogate comes with the next piece. */
  #half = "";
  #isOver = false;

  constructor(options: OverflowOptions) {
    const { direction, settings, maxLines, maxBytes } = options;
    this.#options = options;
    this.#maxLines = Math.max(0, maxLines ?? settings.max_lines);
    this.#maxBytes = Math.max(0, maxBytes ?? settings.max_bytes);
    // The buffer is a bit larger than the limit, so that it still contains all text when the file is created. At the
    // beginning of a text, one more byte shows whether a line continues after the limit. At the end, a few more bytes
    // are needed because the tail may start inside a character.
    this.#end = direction === "head"
      ? new HeadBuffer(this.#maxBytes + 1)
      : new TailBuffer(this.#maxBytes + 4);
  }

  /** Adds a piece; waits for the file, so that fast output is slowed down instead of filling memory. */
  async push(text: string): Promise<void> {
    if (!this.#isOver) await this.#add(this.#secrets.write(text));
  }

  async #add(text: string): Promise<void> {
    const all = this.#half + text;
    const isOpen = /[\ud800-\udbff]$/.test(all);
    this.#half = isOpen ? all.slice(-1) : "";
    await this.#take(this.#encoder.encode(isOpen ? all.slice(0, -1) : all));
  }

  /** The text to show, with a notice if it is incomplete. */
  async finish(): Promise<string> {
    await this.#add(this.#secrets.end());
    if (this.#half !== "") await this.#take(this.#encoder.encode(this.#half));
    this.#isOver = true;
    this.#file?.close();
    const { direction, settings } = this.#options;
    const kept = this.#end.bytes();
    // The tail may start inside a character; the text must not.
    const start = direction === "tail" && kept.length < this.#end.total ? characterStart(kept, 0) : 0;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(kept.subarray(start));
    if (this.#file === null) return text;
    const shorten = direction === "head" ? truncateHead : truncateTail;
    const shown = shorten(text, { maxLines: this.#maxLines, maxBytes: this.#maxBytes });
    const notice = overflowNotice({ ...shown, total_lines: this.#end.lineFeeds + 1 }, {
      direction,
      maxBytes: this.#maxBytes,
      path: this.#file.usablePath,
      lost: this.#file.problem?.message,
      cappedAt: this.#file.capped ? settings.max_file_size : null,
      lineBytes: this.#end instanceof HeadBuffer ? this.#end.firstLineBytes : this.#end.lastLineBytes,
    });
    return withNotice(shown.content, notice);
  }

  /** Discards the text and removes the file. Does nothing after `finish`. */
  async abandon(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#file?.discard();
  }

  async #take(chunk: Uint8Array): Promise<void> {
    if (this.#file === null && this.#passesLimits(chunk)) {
      const { settings, environment, strayLink } = this.#options;
      const path = overflowPath(settings.output_path_format, this.#options, environment);
      this.#file = new OverflowFile(path, settings.max_file_size, strayLink, ownerOf(this.#options));
      await this.#file.write(this.#end.bytes());
    }
    this.#end.push(chunk);
    await this.#file?.write(chunk);
  }

  #passesLimits(chunk: Uint8Array): boolean {
    const lines = this.#end.lineFeeds + countLineFeeds(chunk) + 1;
    return this.#end.total + chunk.length > this.#maxBytes || lines > this.#maxLines;
  }
}
