// Texts of one call that a host sends in pieces: its answer, and texts that the tool asks to shorten.

import { isObject } from "../../base/is_object.ts";
import type { ExecutionContext, TextInPieces } from "../definition.ts";

/** Joins the pieces, keeping only as much as a result may show. */
export class Texts {
  readonly #context: ExecutionContext;
  /** Texts by question number; the key null is the answer. */
  readonly #texts = new Map<number | null, TextInPieces>();
  #isOver = false;

  constructor(context: ExecutionContext) {
    this.#context = context;
    this.begin(null, {});
  }

  /** Starts the text of a question with the tool's options. */
  begin(ask: number | null, options: unknown): void {
    const { direction, ...rest } = isObject(options) ? options : {};
    const { truncate } = this.#context;
    this.#texts.set(ask, truncate.longText({ ...rest, direction: direction === "tail" ? "tail" : "head" }));
  }

  /** Adds a piece to a text. If this text was never started, or has ended, the piece is ignored. */
  async push(ask: number | null, text: string): Promise<void> {
    if (!this.#isOver) await this.#texts.get(ask)?.push(text);
  }

  /** Returns the text as a result may show it; empty if it was never started. */
  async finish(ask: number | null): Promise<string> {
    const text = await this.#texts.get(ask)?.finish() ?? "";
    this.#texts.delete(ask);
    return text;
  }

  /** Discards texts that were not finished. */
  async abandon(): Promise<void> {
    this.#isOver = true;
    await Promise.all(Array.from(this.#texts.values(), (text) => text.abandon()));
  }
}
