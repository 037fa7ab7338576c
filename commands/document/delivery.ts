// Outputs a piped document exactly once, however its command ends, and saves the text in case the output is lost.

import { SavedText } from "../../cycle/storage/saved_text.ts";
import type { Invocation } from "../invocation.ts";
import { FilterOutput } from "../io/filter_output.ts";
import { type Input, passRestThrough } from "../io/streams.ts";

export class Delivery {
  readonly #input: Input;
  readonly #messages: Invocation["messages"];
  readonly #savedText: SavedText;
  readonly #output = new FilterOutput();
  #delivered: boolean | null = null;
  /** Returns the whole text to output, which is the input at first. */
  current: () => Uint8Array;

  constructor({ environment, messages }: Invocation, input: Input) {
    this.#input = input;
    this.#messages = messages;
    this.#savedText = new SavedText(environment, (problem) => messages.notice(problem));
    this.current = () => input.bytes;
    if (input.complete) this.#output.begin(input.bytes);
  }

  /** Returns a function that saves each new text of the document and reports the change. */
  taking(
    changed?: (before: Uint8Array, after: Uint8Array) => void,
  ): (text: Uint8Array, asCut: () => Uint8Array) => void {
    let before = this.#input.bytes;
    return (text, asCut) => {
      this.#savedText.update(asCut());
      changed?.(before, text);
      before = text;
    };
  }

  /** Outputs the text. `wanted` tells whether the reader accepts the output. */
  finish(wanted: boolean): void {
    if (this.#delivered !== null) return;
    this.#delivered = false;
    try {
      this.#output.finish(this.current());
      if (!this.#input.complete) passRestThrough();
      this.#delivered = wanted;
    } finally {
      const kept = this.#savedText.close(this.#delivered);
      if (kept !== null) this.#messages.note(`flemma: To get the text of this run: flemma recover ${kept}`);
    }
  }
}
