// Messages, segments and findings of a document, read line by line in the simplest way: the reference for the
// parser's view.

import { PlainDocument } from "./document.ts";
import * as read from "./lines.ts";
import { template } from "./template.ts";

/** A finding without its words. */
export interface PlainFinding {
  readonly code: string;
  /** 1-based. */
  readonly start: number;
  readonly id?: string;
}

interface PlainMessage {
  readonly role: string;
  readonly start: number;
  readonly end: number;
  readonly segments: readonly unknown[];
}

export interface PlainView {
  readonly messages: readonly PlainMessage[];
  /** Sorted by line, code and id. */
  readonly findings: readonly PlainFinding[];
}

/** Reads a document. */
export function plainView(bytes: Uint8Array): PlainView {
  return new ViewReader(new PlainDocument(bytes)).read();
}

const STATUS: Readonly<Record<string, string>> = {
  pending: "pending",
  approved: "approved",
  rejected: "rejected",
  reject: "rejected",
  denied: "denied",
  deny: "denied",
  aborted: "aborted",
  error: "error",
};

/** A header's block as far as it is there: the lines of its fences, and where reading goes on. */
interface Block {
  readonly opener: number | null;
  readonly closer: number | null;
  readonly next: number;
}

class ViewReader {
  readonly #document: PlainDocument;
  readonly #findings: PlainFinding[] = [];
  readonly #calls = new Set<string>();
  /** Of the message that is read. */
  #own: { id: string; line: number }[] = [];
  readonly #results: { id: string; line: number }[] = [];

  constructor(document: PlainDocument) {
    this.#document = document;
  }

  read(): PlainView {
    const { turns } = this.#document;
    const messages = turns.slice(0, -1).map((line, index) => this.#message(line, turns[index + 1]!));
    this.#roles(messages);
    const seen = new Set<string>();
    for (const { id, line } of this.#results) {
      if (!this.#calls.has(id)) this.#find("result_orphan", line, id);
      if (seen.has(id)) this.#find("result_duplicate", line, id);
      seen.add(id);
    }
    this.#head();
    const key = ({ start, code, id = "" }: PlainFinding) => `${String(start).padStart(9)} ${code} ${id}`;
    return { messages, findings: this.#findings.sort((a, b) => key(a) < key(b) ? -1 : 1) };
  }

  /** What stands before the first message. */
  #head(): void {
    const { frontEnd, turns } = this.#document;
    if (frontEnd < 0 && read.opensFrontmatter(this.#line(0))) this.#find("frontmatter_unclosed", 0);
    let ticks = 0;
    for (let line = frontEnd + 1; line < turns[0]!; line++) {
      const text = this.#line(line);
      if (ticks > 0) ticks = read.closingTicks(text) >= ticks ? 0 : ticks;
      else if (read.fenceTicks(text) > 0) ticks = read.fenceTicks(text);
      else if (read.isLegacyMarker(text)) this.#find("legacy_form", line);
    }
    for (let line = frontEnd + 1; line < turns[0]!; line++) {
      if (read.isBlank(this.#line(line))) continue;
      if (!this.#findings.some(({ start }) => start === line + 1)) {
        this.#find("text_before_first_message", line);
      }
      break;
    }
  }

  #roles(messages: readonly PlainMessage[]): void {
    const last = messages.findLast(({ role }) => role === "System");
    for (const message of messages) {
      if (!["System", "You", "Assistant"].includes(message.role)) {
        this.#find("role_unknown", message.start - 1);
      } else if (message.role === "System" && message !== last) {
        this.#find("system_repeated", message.start - 1);
      }
    }
  }

  #message(from: number, end: number): PlainMessage {
    const role = read.marker(this.#line(from))!;
    this.#fences(from + 1, end);
    this.#own = [];
    let content = end;
    while (content > from + 1 && this.#line(content - 1) === "") content--;
    const empty = role === "You" || role === "Assistant" ? [{ kind: "text", value: "" }] : [];
    const segments = role === "Assistant"
      ? this.#reply(from + 1, end, content)
      : role === "You"
      ? this.#user(from + 1, end, content)
      : this.#texts(from + 1, Math.min(end, content));
    for (const [at, { id, line }] of this.#own.entries()) {
      // Of several calls with one id in a message only the last is run.
      if (this.#own.slice(at + 1).some((later) => later.id === id)) {
        this.#find("tool_use_duplicate", line, id);
      }
    }
    return { role, start: from + 1, end, segments: content === from + 1 ? empty : segments };
  }

  /** Markers of old, and a fence that swallows markers. */
  #fences(from: number, end: number): void {
    for (let line = from; line < end; line++) {
      const ticks = read.fenceTicks(this.#line(line));
      if (ticks === 0) {
        if (read.isLegacyMarker(this.#line(line))) this.#find("legacy_form", line);
        continue;
      }
      const closer = this.#first(line + 1, end, (text) => read.closingTicks(text) >= ticks);
      if (closer === null) {
        if (this.#first(line + 1, end, (text) => read.marker(text) !== null) !== null) {
          this.#find("fence_unclosed", line);
        }
        return;
      }
      line = closer;
    }
  }

  #user(from: number, end: number, content: number): unknown[] {
    const segments: unknown[] = [];
    for (let line = from; line < end;) {
      if (read.isJobHeader(this.#line(line))) {
        const { next } = this.#block(line, end);
        // What a job printed is text; the line end before more text belongs to it.
        const isBeforeText = next < content && read.resultHeader(this.#line(next)) === null;
        const value = `${this.#join(line, Math.min(next, content))}${isBeforeText ? "\n" : ""}`;
        segments.push({ kind: "text", value, ...lines(line, value) });
        line = next;
        continue;
      }
      const header = read.resultHeader(this.#line(line));
      if (header === null) {
        const isHeader = (text: string) => read.resultHeader(text) !== null || read.isJobHeader(text);
        const next = this.#first(line, end, isHeader) ?? end;
        const isBeforeJob = next < end && read.isJobHeader(this.#line(next));
        segments.push(...this.#texts(line, Math.min(next, content), isBeforeJob));
        line = next;
        continue;
      }
      const id = this.#decode(header.id);
      const { opener, closer, next } = this.#block(line, end);
      if (opener === null) this.#find("tool_result_missing_fence", line, id);
      else if (closer === null) this.#find("tool_result_unclosed_fence", line, id);
      else segments.push(this.#result(line, { id, suffix: header.suffix, opener, closer }));
      line = next;
    }
    return segments;
  }

  #result(
    line: number,
    { id, suffix, opener, closer }: { id: string; suffix: string | null; opener: number; closer: number },
  ): unknown {
    const fence = read.blockFence(this.#line(opener))!;
    let { status, unknown } = suffix === null ? NO_STATUS : headerStatus(suffix);
    let reported = line;
    if (status === null && fence.language === "flemma:tool") {
      ({ status, unknown } = fenceStatus(fence.info));
      reported = opener;
    } else if (status === null && fence.language === "flemma:pending") {
      status = "pending";
      this.#find("legacy_form", opener, id);
    }
    if (unknown) this.#find("status_unknown", reported, id);
    this.#results.push({ id, line });
    const final = status === null || status === "error";
    const body = this.#join(opener + 1, closer);
    const questions = final ? null : read.questionsIn(body);
    return {
      kind: "tool_result",
      tool_use_id: id,
      status,
      ...(questions === null ? { content: body } : { content: "", questions }),
      // Nothing of most results is ever evaluated, so a tag that stays open there is nothing to tell, and nothing is quoted.
      segments: final ? this.#template(opener + 1, closer, null) : [],
      start: line + 1,
      end: closer + 1,
    };
  }

  #reply(from: number, end: number, content: number): unknown[] {
    const segments: unknown[] = [];
    let begun = from;
    const flush = (to: number) => {
      const until = Math.min(to, content);
      const value = begun < until ? this.#join(begun, until) : "";
      if (value !== "") segments.push({ kind: "text", value, ...lines(begun, value) });
    };
    for (let line = from; line < end;) {
      const text = this.#line(line);
      const ticks = read.fenceTicks(text);
      const closer = ticks === 0
        ? null
        : this.#first(line + 1, end, (other) => read.closingTicks(other) >= ticks);
      if (closer !== null) {
        this.#hidden(line, closer, end);
        line = closer + 1;
        continue;
      }
      const tag = read.thinking(text);
      const close = tag === null || tag.whole ? line : this.#first(line + 1, end, read.closesThinking);
      if (tag !== null && close === null) this.#find("thinking_unclosed", line);
      const server = read.serverTool(text);
      const serverClose = server === null ? null : this.#first(line + 1, end, read.closesServerTool);
      if (server !== null && serverClose === null) this.#find("server_tool_unclosed", line);
      const message = read.aborted(text);
      const header = read.useHeader(text);
      if (tag !== null && close !== null) {
        flush(line);
        const signature = tag.signature &&
          { provider: tag.signature.provider, value: this.#decode(tag.signature.value) };
        segments.push({
          kind: "thinking",
          content: close === line ? "" : this.#join(line + 1, close),
          ...(signature === null ? {} : { signature }),
          ...(tag.redacted ? { redacted: true } : {}),
          start: line + 1,
          end: close + 1,
        });
        begun = line = close + 1;
      } else if (server !== null && serverClose !== null) {
        flush(line);
        segments.push({
          kind: "server_tool",
          what: server.what,
          provider: server.provider,
          value: this.#decode(server.value),
          content: this.#join(line + 1, serverClose),
          start: line + 1,
          end: serverClose + 1,
        });
        begun = line = serverClose + 1;
      } else if (message !== null) {
        flush(line);
        segments.push({ kind: "aborted", message: this.#decode(message), start: line + 1, end: line + 1 });
        begun = line = line + 1;
      } else if (header !== null) {
        flush(line);
        const { call, next } = this.#call(line, end, header);
        if (call !== null) segments.push(call);
        begun = line = next;
      } else line++;
    }
    flush(end);
    return segments;
  }

  #call(line: number, end: number, header: { name: string; id: string }): { call: unknown; next: number } {
    const [id, name] = [this.#decode(header.id), this.#decode(header.name)];
    const { opener, closer, next } = this.#block(line, end);
    const wrong = (code: string) => {
      this.#find(code, line, id);
      return { call: null, next };
    };
    if (opener === null) return wrong("tool_use_missing_fence");
    if (closer === null) return wrong("tool_use_unclosed_fence");
    const { language } = read.blockFence(this.#line(opener))!;
    if (!/^(json)?$/i.test(language)) return wrong("tool_use_unknown_language");
    const body = this.#join(opener + 1, closer);
    let input: unknown;
    try {
      input = JSON.parse(body);
    } catch {
      return wrong("tool_use_invalid_input");
    }
    if (Object.prototype.toString.call(input) !== "[object Object]") return wrong("tool_use_invalid_input");
    if (keysIn(body) > membersOf(input)) {
      this.#find("tool_use_invalid_input", line, id);
      input = {};
    }
    this.#calls.add(id);
    this.#own.push({ id, line });
    return { call: { kind: "tool_use", id, name, input, start: line + 1, end: closer + 1 }, next };
  }

  /** The block of a header. Without a whole fence it costs the lines up to the next header, or its blank lines. */
  #block(header: number, end: number): Block {
    const line = this.#first(header + 1, end, (text) => !read.isBlank(text)) ?? end;
    const fence = line < end ? read.blockFence(this.#line(line)) : null;
    if (fence === null) return { opener: null, closer: null, next: line };
    const closer = this.#first(line + 1, end, (text) => read.closingTicks(text) >= fence.ticks);
    if (closer !== null) return { opener: line, closer, next: closer + 1 };
    const isHeader = (text: string) =>
      read.useHeader(text) !== null || read.resultHeader(text) !== null || read.isJobHeader(text);
    return { opener: line, closer: null, next: this.#first(line + 1, end, isHeader) ?? end };
  }

  /** Calls that are text only because an earlier fence was left open: their own fence closes the quote. */
  #hidden(opener: number, closer: number, end: number): void {
    const after = this.#first(closer + 1, end, (text) => text !== "");
    if (after !== null && read.closingTicks(this.#line(after)) >= 3) return;
    let found: { line: number; id: string }[] = [];
    for (let line = opener + 1; line < closer; line++) {
      if (read.closingTicks(this.#line(line)) >= 3) found = [];
      const header = read.useHeader(this.#line(line));
      if (header !== null) found.push({ line, id: this.#decode(header.id) });
    }
    for (const { line, id } of found) this.#find("call_hidden_in_fence", line, id);
  }

  /** Text with template tags, and `withEnd` its last line end. */
  #texts(from: number, to: number, withEnd = false): unknown[] {
    return this.#template(from, to, (line) => this.#find("template_unclosed", line), withEnd);
  }

  /** `unclosed` is told of a tag that stays open; null for a result, in which no fence quotes. */
  #template(
    from: number,
    to: number,
    unclosed: ((line: number) => void) | null,
    withEnd = false,
  ): unknown[] {
    if (from >= to) return [];
    const lines = this.#document.lines;
    const start = lines[from]!.from;
    const last = lines[to - 1]!;
    const raw = this.#document.raw(start, withEnd ? last.next : last.to);
    const lineAt = (at: number) => from + (raw.slice(0, at).match(/\n/g)?.length ?? 0);
    const columnAt = (at: number) => at - (raw.lastIndexOf("\n", at - 1) + 1);
    return template(raw, unclosed !== null).map((part) => {
      if (part.kind === "text") {
        if (part.unclosed) unclosed?.(lineAt(part.from));
        const value = this.#unfold(raw.slice(part.from, part.to));
        const first = lineAt(part.from);
        return { kind: "text", value, start: first + 1, end: first + 1 + (value.match(/\n/g)?.length ?? 0) };
      }
      return {
        kind: part.kind,
        code: this.#unfold(part.code),
        ...(part.trimBefore ? { trim_before: true } : {}),
        ...(part.trimAfter ? { trim_after: true } : {}),
        start: lineAt(part.from) + 1,
        start_col: columnAt(part.from) + 1,
        end: lineAt(part.to - 1) + 1,
        end_col: columnAt(part.to - 1) + 1,
      };
    });
  }

  #find(code: string, line: number, id?: string): void {
    this.#findings.push({ code, start: line + 1, ...(id === undefined ? {} : { id }) });
  }

  #line(line: number): string {
    return this.#document.line(line);
  }

  /** The lines `from..to`, joined by LF and decoded. */
  #join(from: number, to: number): string {
    return this.#decode(
      Array.from({ length: Math.max(0, to - from) }, (_, at) => this.#line(from + at)).join("\n"),
    );
  }

  /** Part of the document's own bytes as text, with its line ends as LF. */
  #unfold(raw: string): string {
    return this.#decode(this.#document.crlf ? raw.replaceAll("\r\n", "\n") : raw);
  }

  #decode(raw: string): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
      Uint8Array.from(raw, (char) => char.charCodeAt(0)),
    );
  }

  /** The first of the lines `from..end` that a test holds for. */
  #first(from: number, end: number, holds: (text: string) => boolean): number | null {
    for (let line = from; line < end; line++) if (holds(this.#line(line))) return line;
    return null;
  }
}

function lines(from: number, value: string): { start: number; end: number } {
  return { start: from + 1, end: from + 1 + (value.match(/\n/g)?.length ?? 0) };
}

/** The words of a header's suffix or of a status fence, without their quotes. */
function tokens(text: string): { key: string | null; value: string }[] {
  return (text.match(/(?:"(?:\\["\\]|[^"])*"?|'(?:\\['\\]|[^'])*'?|[^\t-\r ])+/g) ?? []).map((token) => {
    const [, key = null, value = ""] = /^(?:([A-Za-z0-9_]+)=)?([^]*)$/.exec(token)!;
    const quoted = /^(["'])([^]*)\1$/.exec(value);
    return { key, value: quoted ? quoted[2]! : value };
  });
}

/** What is said about a status, and whether a word there is meant as one and is none. */
interface Stated {
  readonly status: string | null;
  readonly unknown: boolean;
}

const NO_STATUS: Stated = { status: null, unknown: false };

function known(value: string): string | null {
  const word = value.toLowerCase();
  return Object.hasOwn(STATUS, word) ? STATUS[word]! : null;
}

/** The inside of a header's parentheses. A word within two letters of a status is meant as one. */
function headerStatus(suffix: string): Stated {
  const all = tokens(suffix);
  const keyed = all.findLast(({ key }) => key === "status")?.value ?? null;
  const unknown = keyed !== null && known(keyed) === null;
  if (keyed !== null && !unknown) return { status: known(keyed), unknown };
  const bare = all.filter(({ key }) => key === null).map(({ value }) => value);
  const word = bare.find((value) => known(value) !== null);
  if (word !== undefined) return { status: known(word), unknown };
  if (unknown) return { status: "pending", unknown };
  const near = bare.some((value) =>
    /^[a-z]{1,12}$/i.test(value) &&
    Object.values(STATUS).some((status) => within(value.toLowerCase(), status, 2))
  );
  return near ? { status: "pending", unknown: true } : NO_STATUS;
}

/** What stands behind `flemma:tool`: only the key counts, and a failure is never spelt there. */
function fenceStatus(info: string): Stated {
  const keyed = tokens(info).findLast(({ key }) => key === "status")?.value ?? null;
  const status = keyed === null ? null : known(keyed);
  if (status !== null && status !== "error") return { status, unknown: false };
  return { status: "pending", unknown: keyed !== null };
}

/** Whether `a` becomes `b` by at most so many letters put in, taken out or exchanged. */
function within(a: string, b: string, edits: number): boolean {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const [left, right] = [a.slice(same), b.slice(same)];
  if (left === right) return true;
  if (edits === 0) return false;
  return within(left.slice(1), right, edits - 1) || within(left, right.slice(1), edits - 1) ||
    within(left.slice(1), right.slice(1), edits - 1);
}

/** Keys that a JSON text has: strings with a colon behind them. */
function keysIn(text: string): number {
  return text.match(/"(?:[^"\\]|\\[^])*"\s*:/g)?.length ?? 0;
}

/** Members of all objects in a value: fewer than the text's keys if one stood twice. */
function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, each) => sum + membersOf(each), 0);
  return inner + (Array.isArray(value) ? 0 : Object.keys(value).length);
}
