// Takes `<think>…</think>` at the beginning of a reply for thinking: servers without a parser for it send it as text.

const OPEN = "<think>";
const CLOSE = "</think>";

export interface Piece {
  readonly kind: "text" | "thinking";
  readonly text: string;
}

/** Splits a text that comes in pieces cut anywhere. Only tags at the very beginning count. */
export class ThinkTags {
  #state: "start" | "inside" | "text" = "start";
  /** What is not decided yet. */
  #held = "";

  /** The next piece of the text, as far as it is decided. */
  feed(text: string): readonly Piece[] {
    if (this.#state === "text") return text === "" ? [] : [{ kind: "text", text }];
    this.#held += text;
    const pieces: Piece[] = [];
    if (this.#state === "start") {
      const begun = this.#held.trimStart();
      if (OPEN.startsWith(begun)) return [];
      if (!begun.startsWith(OPEN)) return this.#release("text");
      this.#state = "inside";
      this.#held = begun.slice(OPEN.length);
    }
    const end = this.#held.indexOf(CLOSE);
    if (end >= 0) {
      pieces.push({ kind: "thinking", text: this.#held.slice(0, end) });
      const rest = this.#held.slice(end + CLOSE.length);
      this.#state = "text";
      this.#held = "";
      if (rest !== "") pieces.push({ kind: "text", text: rest });
    } else {
      const kept = beginningAtEnd(this.#held, CLOSE);
      pieces.push({ kind: "thinking", text: this.#held.slice(0, this.#held.length - kept) });
      this.#held = this.#held.slice(this.#held.length - kept);
    }
    return pieces.filter((piece) => piece.text !== "");
  }

  /** What is left when the text ends. */
  end(): readonly Piece[] {
    return this.#release(this.#state === "inside" ? "thinking" : "text");
  }

  #release(kind: Piece["kind"]): readonly Piece[] {
    const text = this.#held;
    this.#state = "text";
    this.#held = "";
    return text === "" ? [] : [{ kind, text }];
  }
}

/** How many characters at the end of a text are the beginning of a word. */
function beginningAtEnd(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length--) {
    if (word.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
