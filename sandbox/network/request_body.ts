// Measures the body of a forwarded request, so that nothing after it reaches the server.

/** The length of a body in bytes, or `chunked` if the body itself says where it ends. */
export type BodySize = number | "chunked";

/** Limit on a line between two chunks, in characters. */
const MOST_LINE = 4096;

/** Follows a body piece by piece. */
export class BodyMeter {
  readonly #chunked: boolean;
  /** Bytes that are left of the body, or of the current chunk. */
  #left: number;
  /** The unfinished line between two chunks. */
  #line = "";
  #expects: "size" | "end of chunk" | "trailer" = "size";
  #ended: boolean;

  constructor(size: BodySize) {
    this.#chunked = size === "chunked";
    this.#left = size === "chunked" ? 0 : size;
    this.#ended = size === 0;
  }

  /** The bytes at the beginning of a piece that belong to the body. Throws if the chunks are malformed. */
  take(piece: Uint8Array): Uint8Array {
    let at = 0;
    while (at < piece.length && !this.#ended) {
      if (this.#left > 0) {
        const count = Math.min(this.#left, piece.length - at);
        at += count;
        this.#left -= count;
        this.#ended = this.#left === 0 && !this.#chunked;
      } else {
        this.#line += String.fromCharCode(piece[at++]!);
        if (this.#line.endsWith("\n")) this.#endLine();
        else if (this.#line.length > MOST_LINE) throw new Error("A line between two chunks is too long.");
      }
    }
    return piece.subarray(0, at);
  }

  #endLine(): void {
    const line = /^([^\r\n]*)\r\n$/.exec(this.#line)?.[1];
    this.#line = "";
    if (line === undefined) throw new Error("A line between two chunks does not end with CR LF.");
    if (this.#expects === "trailer") {
      this.#ended = line === "";
      return;
    }
    if (this.#expects === "end of chunk") {
      if (line !== "") throw new Error("A chunk is longer than its size.");
      this.#expects = "size";
      return;
    }
    const size = /^([0-9A-Fa-f]{1,12})(?:[ \t]*;[\t -~]*)?$/.exec(line)?.[1];
    if (size === undefined) throw new Error("The size of a chunk is not a number.");
    this.#left = parseInt(size, 16);
    this.#expects = this.#left === 0 ? "trailer" : "end of chunk";
  }
}
