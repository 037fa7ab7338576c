// Writes a streamed reply as document text: pure, effect by effect.
//
// What a provider streams is data. Text and thinking get a backslash where they would read as structure, open fences
// are closed before anything else is written, and a call is written only when it is complete and its name and id are
// valid in a header. The writer works with LF and returns text with the line ends of the document. It writes nothing
// before the first content that is not blank.

import { abortMarkerBelow } from "../../parser/edits/abort_marker.ts";
import { escapeTextLine, fenceAfter, mayBecomeLive, needsClosedFence } from "../../parser/edits/escape.ts";
import { endsInHalf } from "../../base/bytes.ts";
import { isBlank } from "../../prompt/blank.ts";
import { providerError } from "../../providers/http/errors.ts";
import type { Effect, ProviderError } from "../../providers/types.ts";
import { LongText } from "../../base/text/long_text.ts";
import {
  callBlock,
  redactedBlock,
  replaceLineEnds,
  serverToolBlock,
  type Signature,
  thinkingBlock,
} from "./block_text.ts";
import type { SentEnd } from "./ending.ts";
import { ReplyText } from "./reply_text.ts";
import type { Piece } from "../types.ts";

/** Message of the abort marker below a reply that the user stopped. */
const REPLY_STOPPED = "Response interrupted by the user.";

/** Writes one reply. Call `apply` with each effect, `take` to get finished text, and `finish` once. */
export class ReplyWriter {
  readonly #opening: string;
  readonly #eol: string;
  readonly #isTaken: (id: string) => boolean;
  /** Ids of the calls that were written so far. */
  readonly #ids = new Set<string>();
  /**
   * Text written so far, with LF. It holds back text that must not reach the disk yet: a quoted block line in a fence
   * that is still open.
   */
  readonly #out = new ReplyText();
  /** Number of backticks of the open fence, 0 if none. */
  #fence = 0;
  /** The unfinished last line of the text as the provider sent it. */
  #line = "";
  /** Offset in `#out` at which the unfinished line begins; null while the line is held back or empty. */
  #lineStart: number | null = null;
  /** Length that the unfinished line must reach before it is checked again; see `#isBuffered`. */
  #checkAgainAt = 0;
  /** Blank text that is not written yet, because no content has followed it. */
  #blank = "";
  #begun = false;
  /** True if a block was written last, which later text must not touch. */
  #afterBlock = false;

  /**
   * `opening` is written before the first content; `eol` is the document's line end; `isTaken` tells whether the
   * document already uses an id.
   */
  constructor(
    opening: string,
    eol: "\n" | "\r\n" = "\n",
    isTaken: (id: string) => boolean = () => false,
  ) {
    this.#opening = opening;
    this.#eol = eol;
    this.#isTaken = isTaken;
  }

  /** Writes the block of a provider's tool, whose payload is stored or in `value`. */
  applyServerTool(effect: Extract<Effect, { kind: "server_tool" }>, value: string): void {
    this.#block(true);
    this.#out.add(serverToolBlock({ ...effect, value }));
    this.#out.settle();
  }

  /** Ids of the calls written so far, as in the document. */
  get calls(): readonly string[] {
    return [...this.#ids];
  }

  /** Number of line ends written so far, which is the 0-based line of the reply on which the next text begins. */
  get lines(): number {
    return this.#out.lines;
  }

  get waiting(): number {
    return this.#out.waiting;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /**
   * Writes one effect. Returns an error if the format cannot express the effect. The stream is then at fault, and the
   * reply must be ended as interrupted.
   */
  apply(effect: Effect): ProviderError | null {
    const error = this.#write(effect);
    this.#out.settle();
    return error;
  }

  #write(effect: Effect): ProviderError | null {
    switch (effect.kind) {
      case "text":
        // A large piece is split here; the result does not depend on where a provider splits text.
        for (let at = 0; at < effect.text.length; at += AT_ONCE) {
          this.#text(effect.text.slice(at, at + AT_ONCE).replaceAll("\0", "\u2400"));
          this.#out.settle();
        }
        return null;
      case "thinking":
        return this.#thinking(LongText.of(effect.content), effect.signature);
      case "redacted":
        this.#redacted(effect.data);
        return null;
      case "tool_use":
        return this.#toolUse(effect.id, effect.name, LongText.of(effect.inputText));
      default:
        return null;
    }
  }

  /**
   * Returns the new text since the last call, ready to be appended to the document, in pieces. If the program ends
   * between two pieces, the document may end there.
   */
  take(): readonly Piece[] {
    return this.#withLineEnds(this.#out.take());
  }

  /**
   * Ends the reply and returns its remaining text like `take`; empty for a reply that never began. After the text
   * comes the prompt for the user, nothing if the reply is to be continued, or an abort marker that says why the reply
   * was cut short.
   * @param answered whether the user's next message is already below
   */
  finish(end: SentEnd | { readonly kind: "completed" }, answered = false): readonly Piece[] {
    if (!this.#begun) return [];
    this.#endText();
    if (end.kind === "completed") {
      this.#out.write(`${this.#out.endsLine ? "\n" : "\n\n"}${answered ? "" : "@You:\n\n"}`);
    } else if (end.kind === "paused") {
      if (!this.#out.endsLine) this.#out.write("\n");
    } else {
      const message = end.kind === "failed" ? end.problem.message : REPLY_STOPPED;
      this.#out.write(abortMarkerBelow(this.#out.end, message));
    }
    return this.#withLineEnds(this.#out.takeAll());
  }

  #withLineEnds(pieces: readonly (string | LongText)[]): readonly Piece[] {
    return this.#eol === "\n" ? pieces : pieces.map((piece) => replaceLineEnds(piece, this.#eol));
  }

  #text(text: string): void {
    if (!this.#begun || this.#afterBlock) {
      this.#blank += text;
      // The earlier text is blank. Checking it again for each piece would take quadratic time.
      if (isBlank(text)) return;
      // Blanks before the first content are not written; after a block they are part of the text.
      const lead = this.#begun ? this.#blank : text;
      if (this.#begun) this.#out.write(/^[ \t\v\f\r]*\n/.test(lead) ? "" : "\n");
      else this.#begin();
      this.#blank = "";
      this.#afterBlock = false;
      text = lead;
    }
    const lines = text.split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      this.#line += line;
      this.#show(line);
      this.#endLine();
      this.#out.write("\n");
    }
    this.#line += rest;
    this.#show(rest);
    this.#guardOpenLine();
  }

  /** Writes a piece of the unfinished line, unless the line may still become a line of the format. */
  #show(piece: string): void {
    if (this.#lineStart !== null) {
      this.#out.write(piece);
    } else if (this.#line !== "" && (this.#fence > 0 || !this.#isBuffered())) {
      this.#lineStart = this.#out.length;
      this.#out.write(this.#line);
    }
  }

  /**
   * True if the unfinished line may still become a line of the format. A long line is checked again only after it has
   * grown by a quarter: checking it at each character would take quadratic time.
   */
  #isBuffered(): boolean {
    if (this.#line.length < this.#checkAgainAt) return true;
    // The first half of a surrogate pair at the end is left out of the check. On disk the line would end before the
    // pair, and that shorter line could be one of the format.
    const line = endsInHalf(this.#line) ? this.#line.slice(0, -1) : this.#line;
    const pending = line === "" || mayBecomeLive(line);
    this.#checkAgainAt = pending && line.length > ALWAYS_CHECKED ? Math.ceil(line.length * 1.25) : 0;
    return pending;
  }

  /** Writes the held-back part of the line, which is now complete, and updates the fence. */
  #endLine(): void {
    if (this.#lineStart === null && this.#line !== "") {
      this.#lineStart = this.#out.length;
      this.#out.write(escapeTextLine(this.#line, this.#fence));
    }
    this.#guardOpenLine();
    this.#fence = fenceAfter(this.#fence, this.#line);
    if (this.#fence === 0) this.#out.release();
    this.#line = "";
    this.#lineStart = null;
    this.#checkAgainAt = 0;
  }

  /**
   * A block line quoted in a fence is text only once the fence is closed. If the program dies before that, the
   * document on disk must not contain the line as a real block. So the line and all text after it wait for the closing
   * fence.
   */
  #guardOpenLine(): void {
    if (this.#fence > 0 && !this.#out.isBuffered && this.#lineStart !== null && this.#needsClosing()) {
      this.#out.hold(this.#lineStart);
    }
  }

  /** Checks only the beginning of a long line. If the line may still become a block line, it waits. */
  #needsClosing(): boolean {
    if (this.#line.length <= ALWAYS_CHECKED) return needsClosedFence(this.#line);
    return "*<".includes(this.#line.charAt(0)) && mayBecomeLive(this.#line.slice(0, ALWAYS_CHECKED));
  }

  /** Ends the running text: completes its last line and closes an open fence. */
  #endText(): void {
    this.#blank = "";
    if (this.#line !== "") this.#endLine();
    if (this.#fence === 0) return;
    if (!this.#out.endsLine) this.#out.write("\n");
    this.#out.write(`${"`".repeat(this.#fence)}\n`);
    this.#fence = 0;
    this.#out.release();
  }

  #begin(): void {
    this.#begun = true;
    this.#out.write(this.#opening);
  }

  /** Begins a block: ends the text before the block and separates the two. */
  #block(separate: boolean): void {
    if (this.#begun) {
      this.#endText();
      if (separate) this.#out.write(this.#out.endsLine ? "\n" : "\n\n");
      else if (!this.#out.endsLine) this.#out.write("\n");
    } else {
      // Received blanks are not written, but they determine how many line ends separate the blocks.
      const spacing = this.#blank === "" || !separate ? "" : this.#blank.endsWith("\n") ? "\n" : "\n\n";
      this.#blank = "";
      this.#begin();
      this.#out.write(spacing);
    }
    this.#afterBlock = true;
  }

  #thinking(content: string | LongText, signature: Signature | undefined): ProviderError | null {
    if (signature !== undefined && /["\r\n\0]/.test(signature.value)) {
      return unwritable("The signature of a thinking block contains a quote or a line break");
    }
    const written = thinkingBlock(content, signature);
    if (written === null) return null;
    this.#block(true);
    this.#out.add(written);
    return null;
  }

  #redacted(data: string): void {
    this.#block(false);
    this.#out.add(redactedBlock(data));
  }

  #toolUse(id: string, name: string, inputText: string | LongText): ProviderError | null {
    for (const [what, value] of [["name", name], ["id", id]] as const) {
      if (value === "" || /[`)\r\n\0]/.test(value)) {
        const shown = JSON.stringify(value.slice(0, 80)).replaceAll("`", "'");
        return unwritable(
          `The ${what} ${shown} of a call is empty or contains a backtick, a parenthesis or a line break`,
        );
      }
    }
    const first = !this.#begun && this.#blank === "";
    this.#block(true);
    if (first) this.#out.write("\n");
    this.#out.add(callBlock(name, this.#ownId(id), inputText));
    return null;
  }

  /**
   * Returns the id, or a variant of it if the document already uses it. Some providers number the calls of each reply
   * from the beginning, and an older result must not answer the new call.
   */
  #ownId(id: string): string {
    let own = id;
    for (let count = 2; this.#ids.has(own) || this.#isTaken(own); count++) own = `${id}_${count}`;
    this.#ids.add(own);
    return own;
  }
}

/** Maximum number of characters processed in one step. */
const AT_ONCE = 1 << 11;

/** Number of characters up to which an unfinished line is checked with each piece. */
const ALWAYS_CHECKED = 256;

function unwritable(what: string): ProviderError {
  return providerError("other", `${what}, so flemma cannot write the reply.`);
}
