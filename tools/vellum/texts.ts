// The texts of one call that a host sends in pieces: that of its answer, and those that the tool asks to have shortened.

import { isObject } from "../../base/is_object.ts";
import type { ExecutionContext, TextInPieces } from "../definition.ts";

/** Puts the pieces together, as much of them as a result may show. */
export class Texts {
  readonly #context: ExecutionContext;
  /** By the number of the question, null for the answer. */
  readonly #texts = new Map<number | null, TextInPieces>();
  #isOver = false;

  constructor(context: ExecutionContext) {
    this.#context = context;
    this.begin(null, {});
  }

  /** Begins the text of a question with the options that the tool gave. */
  begin(ask: number | null, options: unknown): void {
    const { direction, ...rest } = isObject(options) ? options : {};
    const { truncate } = this.#context;
    this.#texts.set(ask, truncate.longText({ ...rest, direction: direction === "tail" ? "tail" : "head" }));
  }

  /** Takes a piece. One of a text that nobody began, or that is over, belongs to nothing. */
  async push(ask: number | null, text: string): Promise<void> {
    if (!this.#isOver) await this.#texts.get(ask)?.push(text);
  }

  /** The text as a result may show it; empty when nobody began it. */
  async finish(ask: number | null): Promise<string> {
    const text = await this.#texts.get(ask)?.finish() ?? "";
    this.#texts.delete(ask);
    return text;
  }

  /** Leaves nothing of texts that were not finished. */
  async abandon(): Promise<void> {
    this.#isOver = true;
    await Promise.all(Array.from(this.#texts.values(), (text) => text.abandon()));
  }
}
