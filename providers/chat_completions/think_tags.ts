// Recognition of `<think>…</think>` at the start of a reply. Servers that do not parse these tags send thinking as
// text.

const OPEN = "<think>";
const CLOSE = "</think>";

/** Writes reasoning as the beginning of a reply's content, as a model does. */
export function taggedThinking(words: string): string {
  return `${OPEN}\n${words}\n${CLOSE}\n\n`;
}

export interface TaggedText {
  readonly kind: "text" | "thinking";
  readonly text: string;
}

/** Splits a text that arrives in arbitrary pieces. Only tags at the very beginning count. */
export class ThinkTags {
  #state: "start" | "inside" | "text" = "start";
  /** Text that was not classified yet. */
  #buffered = "";

  /** Adds a piece and returns what can be classified so far. */
  feed(text: string): readonly TaggedText[] {
    if (this.#state === "text") return text === "" ? [] : [{ kind: "text", text }];
    this.#buffered += text;
    const pieces: TaggedText[] = [];
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

  end(): readonly TaggedText[] {
    return this.#release(this.#state === "inside" ? "thinking" : "text");
  }

  #release(kind: TaggedText["kind"]): readonly TaggedText[] {
    const text = this.#buffered;
    this.#state = "text";
    this.#buffered = "";
    return text === "" ? [] : [{ kind, text }];
  }
}

/** Returns how many characters at the end of a text could begin the word. */
function beginningAtEnd(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length--) {
    if (word.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
