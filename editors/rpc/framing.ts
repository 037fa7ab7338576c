// Splits a byte stream into messages: by a header with their length (language servers), or by lines (agents).

/** A message, or what is wrong with the bytes that were received in place of one. */
export type RpcFrame =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "fault"; readonly message: string };

/**
 * Maximum size of a message. Larger ones are skipped, because no document is that large, and holding them would
 * exhaust memory.
 */
const MOST_BYTES = 256 * 1024 * 1024;

/** Maximum size of a header. More bytes without a blank line are not a header. */
const LONGEST_HEADER = 8192;

const LF = 10;
const CR = 13;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Adds the header that language servers and their clients use. */
export function withHeader(text: string): Uint8Array {
  const body = encoder.encode(text);
  const header = encoder.encode(`Content-Length: ${body.length}\r\n\r\n`);
  const frame = new Uint8Array(header.length + body.length);
  frame.set(header);
  frame.set(body, header.length);
  return frame;
}

/** Puts a message on a line of its own. */
export function encodeLine(text: string): Uint8Array {
  return encoder.encode(`${text}\n`);
}

/**
 * Reads messages with headers. Reports bytes that are not a header and skips them up to the next blank line. If the
 * stream ends inside a message, reading ends too.
 */
export async function* framesWithHeader(stream: AsyncIterable<Uint8Array>): AsyncGenerator<RpcFrame> {
  const input = new Input(stream);
  while (true) {
    const header = await input.header();
    if (header === null) return;
    const length = lengthIn(header);
    if (length === null) {
      yield {
        kind: "fault",
        message: "A message has no Content-Length header.",
      };
      continue;
    }
    if (length > MOST_BYTES) {
      yield {
        kind: "fault",
        message: `A message of ${length} bytes is too large; the limit is ${MOST_BYTES}.`,
      };
      if (!await input.skip(length)) return;
      continue;
    }
    const body = await input.take(length);
    if (body === null) return;
    yield { kind: "message", text: decoder.decode(body) };
  }
}

/** Reads messages that are one per line. Skips blank lines. */
export async function* framesOnLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<RpcFrame> {
  const input = new Input(stream);
  while (true) {
    const line = await input.line();
    if (line === null) return;
    if (line === "too long") {
      yield { kind: "fault", message: `A message is too large; the limit is ${MOST_BYTES} bytes.` };
    } else if (line.trim() !== "") yield { kind: "message", text: line };
  }
}

function lengthIn(header: string): number | null {
  const found = /^Content-Length:[ \t]*(\d{1,15})[ \t]*$/im.exec(header);
  return found === null ? null : Number(found[1]);
}

/** Buffers bytes as they arrive, to be taken in pieces of any size. */
class Input {
  readonly #stream: AsyncIterator<Uint8Array>;
  /** Bytes that were received and not taken yet. */
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#stream = stream[Symbol.asyncIterator]();
  }

  /** Returns the lines up to a blank one, without blank lines before them; null at the end of the stream. */
  async header(): Promise<string | null> {
    let header = "";
    while (true) {
      const line = await this.line(LONGEST_HEADER);
      if (line === null) return null;
      if (line === "too long") continue;
      const text = line.replace(/\r$/, "");
      if (text !== "") header = `${header}${text}\n`.slice(-LONGEST_HEADER);
      else if (header !== "") return header;
    }
  }

  /** Returns the next line without its end; null at the end of the stream, where an incomplete line is dropped. */
  async line(most = MOST_BYTES): Promise<string | "too long" | null> {
    let seen = 0;
    let passed = false;
    while (true) {
      const at = this.#find(seen);
      if (at >= 0) {
        const line = this.#cut(at);
        this.#cut(1);
        return passed ? "too long" : decoder.decode(line.at(-1) === CR ? line.subarray(0, -1) : line);
      }
      seen = this.#length;
      if (seen > most) {
        passed = true;
        this.#cut(seen);
        seen = 0;
      }
      if (!await this.#more()) return null;
    }
  }

  /** Takes `count` bytes; null if the stream ends before. */
  async take(count: number): Promise<Uint8Array | null> {
    while (this.#length < count) {
      if (!await this.#more()) return null;
    }
    return this.#cut(count);
  }

  /** Skips `count` bytes; false if the stream ends before. */
  async skip(count: number): Promise<boolean> {
    let left = count;
    while (left > this.#length) {
      left -= this.#length;
      this.#chunks = [];
      this.#length = 0;
      if (!await this.#more()) return false;
    }
    this.#cut(left);
    return true;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#stream.next();
    if (done) return false;
    this.#chunks.push(value);
    this.#length += value.length;
    return true;
  }

  /** Finds the next line feed from byte `from` on; -1 if none has arrived. */
  #find(from: number): number {
    let before = 0;
    for (const chunk of this.#chunks) {
      if (before + chunk.length > from) {
        const at = chunk.indexOf(LF, Math.max(0, from - before));
        if (at >= 0) return before + at;
      }
      before += chunk.length;
    }
    return -1;
  }

  /** Takes `count` bytes of those received. */
  #cut(count: number): Uint8Array {
    const taken = new Uint8Array(count);
    let at = 0;
    while (at < count) {
      const chunk = this.#chunks[0]!;
      const piece = chunk.subarray(0, count - at);
      taken.set(piece, at);
      at += piece.length;
      if (piece.length === chunk.length) this.#chunks.shift();
      else this.#chunks[0] = chunk.subarray(piece.length);
    }
    this.#length -= count;
    return taken;
  }
}
