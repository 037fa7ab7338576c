// Writes a streamed reply as document text: pure, effect by effect.
//
// What a provider streams is data. Text and thinking get a backslash where they would read as structure,
// open fences are closed before anything else is written, and a call is written only when it is whole
// and its name and id can stand in a header. The writer works with LF and hands out the line ends of the
// document. Nothing at all is written before the first content that is not blank.

import { abortMarkerBelow } from "../../parser/edits/abort_marker.ts";
import { escapeTextLine, fenceAfter, mayBecomeLive, needsClosedFence } from "../../parser/edits/escape.ts";
import { endsInHalf } from "../../base/bytes.ts";
import { isBlank } from "../../prompt/blank.ts";
import { providerError } from "../../providers/http/errors.ts";
import type { Effect, ProviderError } from "../../providers/types.ts";
import { LongText } from "../../base/text/long_text.ts";
import { callBlock, redactedBlock, type Signature, thinkingBlock, withLineEnds } from "./block_text.ts";
import type { SentEnd } from "./ending.ts";
import { ReplyText } from "./reply_text.ts";
import type { Piece } from "../types.ts";

/** Message of the abort marker below a reply that the user stopped. */
const REPLY_STOPPED = "Response interrupted by the user.";

/** Writes one reply. Feed it effects, take text as it becomes certain, end it once. */
export class ReplyWriter {
  readonly #opening: string;
  readonly #eol: string;
  readonly #isTaken: (id: string) => boolean;
  /** Ids of the calls written so far. */
  readonly #ids = new Set<string>();
  /**
   * What is written, with LF. Held back is what must not reach a disk yet: a quoted block line in a fence that is still
   * open.
   */
  readonly #out = new ReplyText();
  /** Number of backticks of the open fence, 0 if none. */
  #fence = 0;
  /** The unfinished last line of the text as the provider sent it. */
  #line = "";
  /** Where the unfinished line begins in `#out`; null while it is held back or empty. */
  #lineStart: number | null = null;
  /** Length that the unfinished line must reach before it is looked at again; see `#looksLive`. */
  #checkAgainAt = 0;
  /** Blank text not yet written, since no content has followed. */
  #blank = "";
  #begun = false;
  /** The last thing written was a block, which later text must not touch. */
  #afterBlock = false;

  /**
   * `opening` is put before the first content; `eol` is the document's line end; `isTaken` tells which ids
   * stand in the document already.
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

  /** Ids of the calls written so far, as in the document. */
  get calls(): readonly string[] {
    return [...this.#ids];
  }

  /** Line ends written so far: the line of the reply on which what comes next begins, counted from 0. */
  get lines(): number {
    return this.#out.lines;
  }

  /** Number of characters ready for `take`. */
  get waiting(): number {
    return this.#out.waiting;
  }

  /** True once non-blank content was written. */
  get begun(): boolean {
    return this.#begun;
  }

  /**
   * Writes what an effect says. Answers an error when the effect cannot be written in the format; the stream
   * is then at fault and the reply is to be ended as interrupted.
   */
  apply(effect: Effect): ProviderError | null {
    const error = this.#write(effect);
    this.#out.settle();
    return error;
  }

  #write(effect: Effect): ProviderError | null {
    switch (effect.kind) {
      case "text":
        // How a provider cuts a text changes nothing of it, so what comes in one large piece is cut here.
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
   * New text since the last call, ready to be appended to the document, in pieces: should the program be ended between
   * two, the document may end there.
   */
  take(): readonly Piece[] {
    return this.#withLineEnds(this.#out.take());
  }

  /**
   * Ends the reply and gives the rest of its text like `take`; empty for a reply that never began. The prompt for the
   * person follows, nothing where the reply is continued, or an abort marker that says why it was cut short.
   *
   * @param answered whether the person's next message is already below
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
    return this.#eol === "\n" ? pieces : pieces.map((piece) => withLineEnds(piece, this.#eol));
  }

  #text(text: string): void {
    if (!this.#begun || this.#afterBlock) {
      this.#blank += text;
      // What came before is blank: looking at it again each time would cost the square of its length.
      if (isBlank(text)) return;
      // Blanks before the first content are not written; behind a block they are part of the text.
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

  /** Writes a piece of the unfinished line, unless the line may still become live. */
  #show(piece: string): void {
    if (this.#lineStart !== null) {
      this.#out.write(piece);
    } else if (this.#line !== "" && (this.#fence > 0 || !this.#isBuffered())) {
      this.#lineStart = this.#out.length;
      this.#out.write(this.#line);
    }
  }

  /**
   * Whether the unfinished line may still become live. A long one that is held back is looked at again only when it
   * has grown by a part of its length: looking at each character of a line of n of them would cost n².
   */
  #isBuffered(): boolean {
    if (this.#line.length < this.#checkAgainAt) return true;
    // Half a character is not settled: on the disk the line would end before it, and could be live there.
    const line = endsInHalf(this.#line) ? this.#line.slice(0, -1) : this.#line;
    const pending = line === "" || mayBecomeLive(line);
    this.#checkAgainAt = pending && line.length > ALWAYS_CHECKED ? Math.ceil(line.length * 1.25) : 0;
    return pending;
  }

  /** Writes what was held back of the line now that it is whole, and follows the fences. */
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
   * A block line quoted in a fence is text only once the fence is closed. Should the program die before,
   * the document on disk must not hold the line as a live one: it and what follows wait for the closing fence.
   */
  #guardOpenLine(): void {
    if (this.#fence > 0 && !this.#out.isBuffered && this.#lineStart !== null && this.#needsClosing()) {
      this.#out.hold(this.#lineStart);
    }
  }

  /** Of a long line only the beginning is looked at: that it may still become a block line is enough to wait. */
  #needsClosing(): boolean {
    if (this.#line.length <= ALWAYS_CHECKED) return needsClosedFence(this.#line);
    return "*<".includes(this.#line.charAt(0)) && mayBecomeLive(this.#line.slice(0, ALWAYS_CHECKED));
  }

  /** Ends the running text: its last line is whole now, and an open fence is closed. */
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

  /** Begins a block: ends the text before it and separates the two. */
  #block(separate: boolean): void {
    if (this.#begun) {
      this.#endText();
      if (separate) this.#out.write(this.#out.endsLine ? "\n" : "\n\n");
      else if (!this.#out.endsLine) this.#out.write("\n");
    } else {
      // Blanks that were received are not written, but they count for the spacing.
      const spacing = this.#blank === "" || !separate ? "" : this.#blank.endsWith("\n") ? "\n" : "\n\n";
      this.#blank = "";
      this.#begin();
      this.#out.write(spacing);
    }
    this.#afterBlock = true;
  }

  #thinking(content: string | LongText, signature: Signature | undefined): ProviderError | null {
    if (signature !== undefined && /["\r\n\0]/.test(signature.value)) {
      return unwritable("The signature of a thinking block holds a quote or a line end");
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
          `The ${what} ${shown} of a call is empty or holds a backtick, a parenthesis or a line end`,
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
   * The id, or one like it where it stands in the document already: there are providers that number the calls
   * of each reply anew, and an older result must not answer the new call.
   */
  #ownId(id: string): string {
    let own = id;
    for (let count = 2; this.#ids.has(own) || this.#isTaken(own); count++) own = `${id}_${count}`;
    this.#ids.add(own);
    return own;
  }
}

/** Maximum characters processed per step. */
const AT_ONCE = 1 << 11;

/** Up to this many characters, an unfinished line is checked with each piece. */
const ALWAYS_CHECKED = 256;

function unwritable(what: string): ProviderError {
  return providerError("other", `${what}, so the reply cannot be written.`);
}
