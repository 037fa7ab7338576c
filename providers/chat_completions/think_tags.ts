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
  #buffered = "";

  /** The next piece of the text, as far as it is decided. */
  feed(text: string): readonly Piece[] {
    if (this.#state === "text") return text === "" ? [] : [{ kind: "text", text }];
    this.#buffered += text;
    const pieces: Piece[] = [];
    if (this.#state === "start") {
      const begun = this.#buffered.trimStart();
      if (OPEN.startsWith(begun)) return [];
      if (!begun.startsWith(OPEN)) return this.#release("text");
      this.#state = "inside";
      this.#buffered = begun.slice(OPEN.length);
    }
    const end = this.#buffered.indexOf(CLOSE);
    if (end >= 0) {
      pieces.push({ kind: "thinking", text: this.#buffered.slice(0, end) });
      const rest = this.#buffered.slice(end + CLOSE.length);
      this.#state = "text";
      this.#buffered = "";
      if (rest !== "") pieces.push({ kind: "text", text: rest });
    } else {
      const kept = beginningAtEnd(this.#buffered, CLOSE);
      pieces.push({ kind: "thinking", text: this.#buffered.slice(0, this.#buffered.length - kept) });
      this.#buffered = this.#buffered.slice(this.#buffered.length - kept);
    }
    return pieces.filter((piece) => piece.text !== "");
  }

  /** What is left when the text ends. */
  end(): readonly Piece[] {
    return this.#release(this.#state === "inside" ? "thinking" : "text");
  }

  #release(kind: Piece["kind"]): readonly Piece[] {
    const text = this.#buffered;
    this.#state = "text";
    this.#buffered = "";
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
