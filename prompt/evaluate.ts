// Conversion of a parsed document to the conversation for a provider.
//
// All templates run first and determine the order of texts, results and files. Then the texts, results and files are
// converted to parts. The Lua engine is loaded only for a document with a template tag.

import { folderOfDocument } from "../base/paths.ts";
import type { Environment } from "../base/environment.ts";
import { DEFAULT_SETTINGS, type Settings } from "../config/settings.generated.ts";
import { BUILTIN_TOOLS } from "../config/rules/builtin_tools.generated.ts";
import { isLifecycle } from "../parser/text/status_words.ts";
import type { Chat, Diagnostic, Result, Segment, TextSegment, Turn } from "../parser/types.ts";
import { assistantParts } from "./assistant_parts.ts";
import {
  attachmentFindings,
  checkSavedAttachment,
  readAttachment,
  type SavedAttachment,
} from "./attachments.ts";
import { trimBlank } from "./blank.ts";
import { FileLog, type ReadPolicy } from "./file_log.ts";
import { onlyReference, unescapeReference } from "./file_references.ts";
import { addText } from "./parts.ts";
import { type Body, References } from "./references.ts";
import { waitsFor } from "../parser/open_call.ts";
import type { Emitted } from "./template/output.ts";
import { isTag } from "./template/quoted.ts";
import { type DocumentLua, luaSession } from "./template/document_lua.ts";
import { type TextRange, trimTexts } from "./template/trim.ts";
import { withoutTags } from "./template/without_tags.ts";
import type { Part, Prompt, PromptMessage } from "./types.ts";

export interface EvaluateOptions {
  /**
   * Absolute path of the document. It is null for an unsaved document, whose references are relative to
   * `environment.cwd`.
   */
  readonly document: string | null;
  readonly environment: Environment;
  /** Tools whose result may be a single file reference. @default the built-in tools that return files */
  readonly templatedTools?: readonly string[];
  /** The evaluated frontmatter. If it is absent, a document with frontmatter is not sent. */
  readonly frontmatter?: EvaluatedFrontmatter;
  /** Settings for tags and files. @default tags are run, and attached text includes its path */
  readonly settings?: Pick<Settings, "files" | "templating">;
  /**
   * True to read the files that messages refer to, and the files that are stored for results. False leaves references
   * as text. `looks` only checks that stored files of results exist, to get diagnostics without reading. @default true
   */
  readonly attaches?: boolean | "looks";
}

/** Result of evaluating the frontmatter: part of `DocumentSettings`, and the session that ran it. */
export interface EvaluatedFrontmatter {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly diagnostics: readonly Diagnostic[];
  readonly lua: DocumentLua;
  /** True if the document may include a file. @default every file */
  readonly isReadable?: ReadPolicy;
  /** Awaited before `isReadable` is called. Most documents include no file, and the policy is slow to load. */
  ready?(): Promise<void>;
}

/** Evaluates a document. Never throws for its content: problems are diagnostics of the prompt. */
export async function evaluateChat(chat: Chat, options: EvaluateOptions): Promise<Prompt> {
  return await new Evaluation(chat, options).run();
}

const FILE_RESULTS = BUILTIN_TOOLS.filter(({ givesFiles }) => givesFiles).map(({ name }) => name);

class Evaluation {
  readonly #chat: Chat;
  readonly #references: References;
  readonly #templated: ReadonlySet<string>;
  readonly #diagnostics: Diagnostic[];
  readonly #options: EvaluateOptions;
  /** Files read through references. Included files are recorded by the Lua session. */
  readonly #files: FileLog;
  #lua: DocumentLua | undefined;
  /** Segments of messages in which tags stay text. */
  readonly #read = new Map<Turn, readonly Segment[]>();
  readonly #runsTags: boolean;
  readonly #trimmed = new Map<Turn, readonly (TextRange | null)[]>();
  /** Cache of the parts of each converted segment. A template loop may output the same segment many times. */
  readonly #seen = new Map<Segment, readonly Part[]>();

  constructor(chat: Chat, options: EvaluateOptions) {
    this.#chat = chat;
    this.#options = options;
    this.#lua = options.frontmatter?.lua;
    this.#files = new FileLog(options.frontmatter?.isReadable);
    this.#templated = new Set(options.templatedTools ?? FILE_RESULTS);
    const { files, templating } = options.settings ?? DEFAULT_SETTINGS;
    this.#runsTags = templating.enabled;
    this.#diagnostics = chat.diagnostics.filter(({ code }) => this.#runsTags || code !== "template_unclosed");
    this.#references = new References({
      base: { folder: folderOf(options), home: options.environment.home },
      files: this.#files,
      areNamed: files.names,
      ready: () => options.frontmatter?.ready?.() ?? Promise.resolve(),
      report: (finding) => this.#diagnostics.push(finding),
    });
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
        history.push({ role: "assistant", parts: assistantParts(this.#chat, turn), line: turn.place.start });
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
        message: `The frontmatter (${block.language}) was not evaluated, so the document is not sent. ` +
          "Move its settings to your settings file or the command line.",
        start: block.start,
        end: block.end,
      });
    }
  }

  /** Runs the templates of all messages; null for a document without tags. */
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
    // If no frontmatter was run, no code can call the `print` of the frontmatter.
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

  /** Converts output to parts, in order; adjacent texts make one part. */
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
          ? [this.#references.named(piece.part, piece.path)]
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

  /**
   * Converts a segment other than a tag. The segment may belong to an earlier message, if a Lua function of that
   * message is called.
   */
  async #segment(turnIndex: number, index: number): Promise<readonly Part[]> {
    const turn = this.#chat.turns[turnIndex];
    const segment = turn === undefined ? undefined : this.#segmentsOf(turn)[index];
    if (turn === undefined || segment === undefined) return [];
    const known = this.#seen.get(segment);
    if (known !== undefined) return known;
    const parts: Part[] = [];
    if (segment.kind === "text") parts.push(...await this.#literal(segment, this.#keptOf(turn, index), turn));
    else if (segment.kind === "tool_result" && !isLifecycle(segment.status)) {
      parts.push(await this.#resultPart(segment, turn));
    }
    this.#seen.set(segment, parts);
    return parts;
  }

  #keptOf(turn: Turn, index: number): TextRange | null {
    const known = this.#trimmed.get(turn) ?? trimTexts(this.#segmentsOf(turn));
    this.#trimmed.set(turn, known);
    return known[index] ?? null;
  }

  async #literal(
    { value, place, raw }: TextSegment,
    kept: TextRange | null,
    turn: Turn,
  ): Promise<readonly Part[]> {
    const range = kept ?? { from: 0, to: value.length };
    const line = place?.start ?? turn.place.start;
    const column = place === undefined ? 1 : place.from - this.#chat.lineStart(line) + 1;
    if (!raw && this.#options.attaches !== false) {
      return await this.#references.inText({ value, role: turn.role, line, column }, range);
    }
    const parts: Part[] = [];
    addText(parts, value.slice(range.from, range.to));
    return parts;
  }

  async #resultPart(result: Result, turn: Turn): Promise<Part> {
    const name = this.#chat.call(result.id)?.name;
    const isError = result.status === "error";
    const mayRefer = !isError && name !== undefined && this.#templated.has(name);
    const reference = mayRefer ? onlyReference(result.content) : null;
    const body: Body = { value: result.content, role: turn.role, line: result.opener.start + 1, column: 1 };
    const part = reference === null ? null : await this.#references.attached(reference, body);
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

  /** Returns the files that the header of a result names; the text of a result cannot name any. */
  async #keptParts(result: Result): Promise<readonly Part[]> {
    const { attaches = true, environment } = this.#options;
    if (result.attachments.length === 0 || attaches === false) return [];
    const files: (readonly [string, SavedAttachment])[] = [];
    for (const name of new Set(result.attachments)) {
      files.push([
        name,
        await (attaches === "looks" ? checkSavedAttachment : readAttachment)(name, environment),
      ]);
    }
    this.#diagnostics.push(...attachmentFindings(result, files));
    return files.flatMap(([, file]) => file.kind === "part" ? [file.part] : []);
  }

  /** Returns calls without a final result, and adds a warning for each. */
  #unresolvedCalls(): readonly { readonly id: string; readonly name: string }[] {
    const open = new Map<string, string>();
    for (const call of this.#chat.calls) {
      const result = this.#chat.result(call.id);
      if (result !== undefined && !isLifecycle(result.status)) continue;
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

/** Outputs every segment of a message without tags. */
function wholeTurn(turn: Turn, segments: readonly Segment[]): readonly Emitted[] {
  return segments.map((_, index) => ({ kind: "segment", turn: turn.index, index }));
}

function folderOf(options: EvaluateOptions): string {
  const { document, environment } = options;
  return document === null ? environment.cwd : folderOfDocument(document);
}

function systemText(parts: readonly Part[]): string {
  const texts = parts.flatMap((part) => part.kind === "text" || part.kind === "text_file" ? [part.text] : []);
  return trimBlank(texts.join("\n"));
}
