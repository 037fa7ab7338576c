// From a parsed document to the conversation a provider is given (chat-format 10).
//
// Templates run first, all of them, and say in which order texts, results and files stand; the rest turns these into
// parts. The Lua engine is loaded only for a document that has a template tag.

import { folderOfDocument } from "../base/paths.ts";
import type { Environment } from "../base/environment.ts";
import { DEFAULT_SETTINGS } from "../config/defaults.ts";
import type { Settings } from "../config/settings.ts";
import { unescapeTurn } from "../parser/edits/escape.ts";
import type { Chat, Diagnostic, Result, Segment, TextSegment, Turn } from "../parser/types.ts";
import { attach, type Base, fileFinding, namedText } from "./attach.ts";
import { isKept, type KeptFile, keptFile, keptFindings } from "./attachments.ts";
import { isBlank, trimBlank } from "./blank.ts";
import { FileLog, type ReadPolicy } from "./file_log.ts";
import { type FileReference, fileReferences, onlyReference, unescapeReference } from "./file_references.ts";
import { waitsFor } from "../parser/open_call.ts";
import type { Emitted } from "./template/output.ts";
import { isTag } from "./template/quoted.ts";
import { type DocumentLua, luaSession } from "./template/document_lua.ts";
import { type Kept, trimTexts } from "./template/trim.ts";
import type { Part, Prompt, PromptMessage } from "./types.ts";

export interface EvaluateOptions {
  /** Absolute path of the document, or null when it is unsaved: references then start in `environment.cwd`. */
  readonly document: string | null;
  readonly environment: Environment;
  /** Tools whose result may be a single file reference (S8). Default: `read`. */
  readonly templatedTools?: readonly string[];
  /** What the first block said. Left out, a document with such a block is not sent. */
  readonly frontmatter?: EvaluatedFrontmatter;
  /** What settings say of tags and files. @default tags are run, and attached text carries its path */
  readonly settings?: Pick<Settings, "files" | "templating">;
  /**
   * Whether references of messages are files, which are read, as those are that belong to results; otherwise they stay text.
   * With `looks` it is only looked whether files of results are there, for whoever wants the findings alone. @default true
   */
  readonly attaches?: boolean | "looks";
}

/** The first block after it was evaluated: a part of `DocumentSettings` and the session that ran it. */
export interface EvaluatedFrontmatter {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly diagnostics: readonly Diagnostic[];
  readonly lua: DocumentLua;
  /** Files the document may take in; by default every one. */
  readonly isReadable?: ReadPolicy;
  /** Awaited before `isReadable` is asked: most documents take in no file, and what answers is costly to load. */
  ready?(): Promise<void>;
}

/** Evaluates a document. Never throws for what stands in it: problems are diagnostics of the prompt. */
export async function evaluate(chat: Chat, options: EvaluateOptions): Promise<Prompt> {
  return await new Evaluation(chat, options).run();
}

class Evaluation {
  readonly #chat: Chat;
  readonly #base: Base;
  readonly #templated: ReadonlySet<string>;
  readonly #diagnostics: Diagnostic[];
  readonly #options: EvaluateOptions;
  /** What references read; includes are noted by the Lua session. */
  readonly #files: FileLog;
  #lua: DocumentLua | undefined;
  /** Segments of messages in which tags are left as text. */
  readonly #read = new Map<Turn, readonly Segment[]>();
  readonly #areNamed: boolean;
  readonly #runsTags: boolean;
  readonly #trimmed = new Map<Turn, readonly (Kept | null)[]>();
  /** What a segment came to: loops of templates may put it out many times. */
  readonly #seen = new Map<Segment, readonly Part[]>();

  constructor(chat: Chat, options: EvaluateOptions) {
    this.#chat = chat;
    this.#options = options;
    this.#lua = options.frontmatter?.lua;
    this.#files = new FileLog(options.frontmatter?.isReadable);
    this.#base = { folder: folderOf(options), home: options.environment.home };
    this.#templated = new Set(options.templatedTools ?? ["read"]);
    const { files, templating } = options.settings ?? DEFAULT_SETTINGS;
    this.#areNamed = files.names;
    this.#runsTags = templating.enabled;
    this.#diagnostics = chat.diagnostics.filter(({ code }) => this.#runsTags || code !== "template_unclosed");
  }

  async run(): Promise<Prompt> {
    this.#reportFrontmatter();
    const outputs = await this.#runTemplates();
    let system: string | null = null;
    let systemLine: number | undefined;
    const history: PromptMessage[] = [];
    for (const turn of this.#chat.turns) {
      const output = outputs?.get(turn);
      if (output !== undefined) this.#diagnostics.push(...output.diagnostics);
      if (turn.role === "Assistant") {
        history.push({ role: "assistant", parts: this.#assistantParts(turn), line: turn.place.start });
        continue;
      }
      if (turn.role !== "System" && turn.role !== "You") continue;
      const parts = await this.#parts(output?.pieces ?? wholeTurn(turn, this.#segmentsOf(turn)));
      if (turn.role === "System") {
        system = systemText(parts);
        systemLine = turn.place.start;
      } else history.push({ role: "user", parts, line: turn.place.start });
    }
    const unresolved = this.#unresolvedCalls();
    const blocked = this.#diagnostics.some((diagnostic) => diagnostic.severity === "error");
    const files = await this.#files.files(this.#lua?.files);
    const place = systemLine === undefined ? {} : { systemLine };
    const day = this.#lua?.generated.day ?? null;
    return {
      system,
      ...place,
      history,
      unresolved,
      diagnostics: this.#diagnostics,
      blocked,
      files,
      ...(day === null ? {} : { day }),
    };
  }

  #reportFrontmatter(): void {
    const { frontmatter } = this.#options;
    const block = this.#chat.frontmatter;
    if (frontmatter !== undefined) this.#diagnostics.push(...frontmatter.diagnostics);
    else if (block !== null) {
      this.#diagnostics.push({
        code: "frontmatter_unsupported",
        type: "frontmatter",
        severity: "error",
        message: `The first block (${block.language}) was not evaluated, so the document is not sent: ` +
          "move its settings to your settings file or the command line.",
        start: block.start,
        end: block.end,
      });
    }
  }

  /** What the messages with tags put out; null for a document without any tag. */
  async #runTemplates() {
    const turns = this.#chat.turns.filter((turn) =>
      turn.role !== "Assistant" && turn.segments.some((segment) => isTag(segment) && !segment.raw)
    );
    if (turns.length === 0) return null;
    if (!this.#runsTags) {
      for (const turn of turns) this.#read.set(turn, withoutTags(turn.segments, this.#chat));
      return null;
    }
    const { Templates } = await import("./template/run.ts");
    const { document, environment, frontmatter } = this.#options;
    await frontmatter?.ready?.();
    // Without a block that was run there is nothing that could print.
    this.#lua ??= luaSession({ document, environment, print: () => {} });
    const templates = await Templates.start(this.#lua, frontmatter?.variables ?? {});
    return new Map(turns.map((turn) => {
      const output = templates.run(turn, this.#chat);
      this.#read.set(turn, output.segments);
      return [turn, output];
    }));
  }

  #segmentsOf(turn: Turn): readonly Segment[] {
    return this.#read.get(turn) ?? turn.segments;
  }

  /** The parts that pieces of output come to, in order; texts side by side make one part. */
  async #parts(pieces: readonly Emitted[]): Promise<readonly Part[]> {
    const parts: Part[] = [];
    let texts: string[] = [];
    const flush = () => {
      addText(parts, texts.join(""));
      texts = [];
    };
    for (const piece of pieces) {
      if (piece.kind === "text") texts.push(piece.text);
      else {
        const made = piece.kind === "part"
          ? [this.#named(piece.part, piece.path)]
          : await this.#segment(piece.turn, piece.index);
        for (const part of made) {
          if (part.kind === "text") texts.push(part.text);
          else {
            flush();
            parts.push(part);
          }
        }
      }
    }
    flush();
    return parts;
  }

  /** A segment that is no tag; messages may put out segments of earlier ones, through functions defined there. */
  async #segment(turnIndex: number, index: number): Promise<readonly Part[]> {
    const turn = this.#chat.turns[turnIndex];
    const segment = turn === undefined ? undefined : this.#segmentsOf(turn)[index];
    if (turn === undefined || segment === undefined) return [];
    const known = this.#seen.get(segment);
    if (known !== undefined) return known;
    const parts: Part[] = [];
    if (segment.kind === "text") await this.#literal(segment, this.#keptOf(turn, index), turn, parts);
    else if (segment.kind === "tool_result" && (segment.status === null || segment.status === "error")) {
      parts.push(await this.#resultPart(segment, turn));
    }
    this.#seen.set(segment, parts);
    return parts;
  }

  #keptOf(turn: Turn, index: number): Kept | null {
    const known = this.#trimmed.get(turn) ?? trimTexts(this.#segmentsOf(turn));
    this.#trimmed.set(turn, known);
    return known[index] ?? null;
  }

  /** Text of a System or You message: literal, with the files it refers to. */
  async #literal(segment: TextSegment, kept: Kept | null, turn: Turn, parts: Part[]): Promise<void> {
    const { value, place } = segment;
    const { from, to } = kept ?? { from: 0, to: value.length };
    const line = place?.start ?? turn.place.start;
    const column = place === undefined ? 1 : place.from - this.#chat.lineStart(line) + 1;
    const body: Body = { value, role: turn.role, line, column };
    let reached = from;
    const isLiteral = segment.raw || this.#options.attaches === false;
    for (const reference of isLiteral ? [] : fileReferences(value)) {
      const part = await this.#attached(reference, body);
      if (part === null) continue;
      addText(parts, value.slice(reached, reference.from));
      parts.push(this.#named(part, reference.path));
      reached = reference.to;
    }
    addText(parts, value.slice(reached, to));
  }

  /** A part of a file that a person refers to; its text with the path they wrote, for the model has to tell files apart. */
  #named(part: Part, path: string): Part {
    return this.#areNamed && part.kind === "text_file" ? { ...part, text: namedText(path, part.text) } : part;
  }

  /** The part a reference stands for; null when the reference has to stay text. */
  async #attached(reference: FileReference, body: Body): Promise<Part | null> {
    await this.#options.frontmatter?.ready?.();
    const attachment = await attach(reference, this.#base, this.#files);
    const source = body.value.slice(reference.from, reference.to);
    if (reference.unknownOption !== undefined) {
      this.#diagnostics.push({
        code: "file_option_unknown",
        type: "file",
        severity: "warning",
        message: `The option of ${source} is not known and was left out; only ;type=MIME has a meaning.`,
        ...position(reference, body),
      });
    }
    if (attachment.kind === "missing") {
      this.#diagnostics.push({
        code: "file_not_found",
        type: "file",
        severity: "warning",
        message: `The file ${attachment.path} of the @${body.role} message cannot be read ` +
          `(${attachment.reason}); ${source} is sent as text.`,
        ...position(reference, body),
      });
      return null;
    }
    if (attachment.flaw !== undefined) {
      this.#diagnostics.push({
        ...fileFinding(source, attachment.flaw, "Add ;type=text/plain when it holds text."),
        ...position(reference, body),
      });
    }
    return attachment.part;
  }

  async #resultPart(result: Result, turn: Turn): Promise<Part> {
    const name = this.#chat.call(result.id)?.name;
    const isError = result.status === "error";
    const mayRefer = !isError && name !== undefined && this.#templated.has(name);
    const reference = mayRefer ? onlyReference(result.content) : null;
    const body: Body = { value: result.content, role: turn.role, line: result.opener.start + 1, column: 1 };
    const part = reference === null ? null : await this.#attached(reference, body);
    const parts: Part[] = part === null ? [] : [part];
    if (part === null) addText(parts, mayRefer ? unescapeReference(result.content) : result.content);
    parts.push(...await this.#keptParts(result));
    return {
      kind: "tool_result",
      toolUseId: result.id,
      ...(name === undefined ? {} : { name }),
      isError,
      parts,
    };
  }

  /** The files that the header of a result names, and nothing of its text does. */
  async #keptParts(result: Result): Promise<readonly Part[]> {
    const { attaches = true, environment } = this.#options;
    if (result.attachments.length === 0 || attaches === false) return [];
    const files: (readonly [string, KeptFile])[] = [];
    for (const name of new Set(result.attachments)) {
      files.push([name, await (attaches === "looks" ? isKept : keptFile)(name, environment)]);
    }
    this.#diagnostics.push(...keptFindings(result, files));
    return files.flatMap(([, file]) => file.kind === "part" ? [file.part] : []);
  }

  #assistantParts(turn: Turn): readonly Part[] {
    const parts: Part[] = [];
    for (const segment of unescapeTurn(this.#chat, turn)) {
      if (segment.kind === "text") addText(parts, segment.value);
      else if (segment.kind === "thinking") {
        const { content, signature, redacted, place } = segment;
        parts.push({
          kind: "thinking",
          content,
          ...(signature === undefined ? {} : { signature }),
          redacted,
          line: place.start,
        });
      } else if (segment.kind === "tool_use") {
        const { id, name, input, inputText, flaw } = segment;
        // What no reader of JSON takes would make every request from here on fail.
        parts.push({ kind: "tool_use", id, name, input, inputText: flaw === null ? inputText : "{}" });
      } else if (segment.kind === "aborted" && turn.calls.length === 0) {
        parts.push({ kind: "text", text: `<!-- ${segment.message} -->` });
      }
    }
    for (let last = parts.at(-1); last?.kind === "text" && isBlank(last.text); last = parts.at(-1)) {
      parts.pop();
    }
    return parts;
  }

  /** Calls without a final result, each once; a warning for every one (chat-format 10.6). */
  #unresolvedCalls(): readonly { readonly id: string; readonly name: string }[] {
    const open = new Map<string, string>();
    for (const call of this.#chat.calls) {
      const result = this.#chat.result(call.id);
      if (result !== undefined && (result.status === null || result.status === "error")) continue;
      if (!open.has(call.id)) {
        this.#diagnostics.push({
          code: "tool_use_unresolved",
          type: "tool_use",
          severity: "warning",
          message: waitsFor(call, result),
          start: call.place.start,
          end: call.place.end,
          id: call.id,
        });
      }
      open.set(call.id, call.name);
    }
    return [...open].map(([id, name]) => ({ id, name }));
  }
}

/** A literal text and where it stands, for diagnostics about references in it. */
interface Body {
  readonly value: string;
  readonly role: string;
  /** 1-based line and byte column at which the text begins. */
  readonly line: number;
  readonly column: number;
}

/** Line and byte columns of a reference. */
function position(
  reference: FileReference,
  body: Body,
): Pick<Diagnostic, "start" | "end" | "startCol" | "endCol"> {
  const before = body.value.slice(0, reference.from);
  const line = body.line + before.split("\n").length - 1;
  const firstColumn = line === body.line ? body.column : 1;
  const startCol = byteLength(before.slice(before.lastIndexOf("\n") + 1)) + firstColumn;
  const endCol = startCol + byteLength(body.value.slice(reference.from, reference.to)) - 1;
  return { start: line, end: line, startCol, endCol };
}

/** A message without tags: every segment in order. */
function wholeTurn(turn: Turn, segments: readonly Segment[]): readonly Emitted[] {
  return segments.map((_, index) => ({ kind: "segment", turn: turn.index, index }));
}

/** Segments with one text in place of each run of texts and tags: what a document is that has tags switched off. */
function withoutTags(segments: readonly Segment[], chat: Pick<Chat, "text" | "lineAt">): readonly Segment[] {
  const out: Segment[] = [];
  for (const segment of segments) {
    const last = out.at(-1);
    if (segment.kind !== "text" && !isTag(segment)) out.push(segment);
    else if (segment.place === undefined) out.push(segment);
    else {
      const from = last?.kind === "text" ? last.place?.from : undefined;
      if (from !== undefined) out.pop();
      const place = from === undefined ? segment.place : { ...segment.place, from, start: chat.lineAt(from) };
      out.push({ kind: "text", value: chat.text(place.from, place.to), place });
    }
  }
  return out;
}

function folderOf(options: EvaluateOptions): string {
  const { document, environment } = options;
  return document === null ? environment.cwd : folderOfDocument(document);
}

function addText(parts: Part[], text: string): void {
  if (text !== "") parts.push({ kind: "text", text });
}

function systemText(parts: readonly Part[]): string {
  const texts = parts.flatMap((part) => part.kind === "text" || part.kind === "text_file" ? [part.text] : []);
  return trimBlank(texts.join("\n"));
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
