// From a parsed document to the conversation a provider is given (chat-format 10), templates apart.
//
// Frontmatter and template tags need the Lua cell, which does not exist yet. A document that uses them is
// therefore blocked with a diagnostic that says so: leaving them out would send half of what was meant.

import type { Environment } from "../config/environment.ts";
import { unescapeTurn } from "../parser/escape.ts";
import type { Chat, Diagnostic, Result, Segment, TemplateSegment, Turn } from "../parser/types.ts";
import { attach, type Base } from "./attach.ts";
import { isBlank, trimBlank } from "./blank.ts";
import { type FileReference, fileReferences, onlyReference, unescapeReference } from "./reference.ts";
import type { Part, Prompt, PromptMessage } from "./types.ts";

export interface EvaluateOptions {
  /** Absolute path of the document, or null when it is unsaved: references then start in `environment.cwd`. */
  readonly document: string | null;
  readonly environment: Environment;
  /** Tools whose result may be a single file reference (S8). Default: `read`. */
  readonly templatedTools?: readonly string[];
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

  constructor(chat: Chat, options: EvaluateOptions) {
    this.#chat = chat;
    this.#base = { folder: folderOf(options), home: options.environment.home };
    this.#templated = new Set(options.templatedTools ?? ["read"]);
    this.#diagnostics = [...chat.diagnostics];
  }

  async run(): Promise<Prompt> {
    this.#reportFrontmatter();
    let system: string | null = null;
    const history: PromptMessage[] = [];
    for (const turn of this.#chat.turns) {
      if (turn.role === "System") system = systemText(await this.#literalParts(turn));
      else if (turn.role === "You") history.push({ role: "user", parts: await this.#userParts(turn) });
      else if (turn.role === "Assistant") {
        history.push({ role: "assistant", parts: this.#assistantParts(turn) });
      }
    }
    const unresolved = this.#unresolvedCalls();
    const blocked = this.#diagnostics.some((diagnostic) => diagnostic.severity === "error");
    return { system, history, unresolved, diagnostics: this.#diagnostics, blocked };
  }

  #reportFrontmatter(): void {
    const block = this.#chat.frontmatter;
    if (block === null) return;
    this.#diagnostics.push({
      code: "frontmatter_unsupported",
      type: "frontmatter",
      severity: "error",
      message:
        `Frontmatter (here ${block.language}) is not evaluated by this version, so the document is not sent: ` +
        "move its settings to the configuration file or the command line.",
      start: block.start,
      end: block.end,
    });
  }

  async #literalParts(turn: Turn): Promise<readonly Part[]> {
    const parts: Part[] = [];
    for (const segment of turn.segments) await this.#literal(segment, turn, parts);
    return parts;
  }

  async #userParts(turn: Turn): Promise<readonly Part[]> {
    const parts: Part[] = [];
    for (const segment of turn.segments) {
      if (segment.kind !== "tool_result") await this.#literal(segment, turn, parts);
      else if (segment.status === null || segment.status === "error") {
        parts.push(await this.#resultPart(segment, turn));
      }
    }
    return parts;
  }

  /** Text of a System or You message: literal, with the files it refers to. */
  async #literal(segment: Segment, turn: Turn, parts: Part[]): Promise<void> {
    if (segment.kind === "expression" || segment.kind === "code") this.#reportTemplate(segment, turn);
    if (segment.kind !== "text") return;
    const { value, place } = segment;
    const body: Body = { value, role: turn.role, line: place?.start ?? turn.place.start };
    let reached = 0;
    for (const reference of fileReferences(value)) {
      const part = await this.#attached(reference, body);
      if (part === null) continue;
      addText(parts, value.slice(reached, reference.from));
      parts.push(part);
      reached = reference.to;
    }
    addText(parts, value.slice(reached));
  }

  #reportTemplate(segment: TemplateSegment, turn: Turn): void {
    this.#diagnostics.push({
      code: "template_unsupported",
      type: "template",
      severity: "error",
      message: `Template tags are not evaluated by this version, so the @${turn.role} message of line ` +
        `${turn.place.start} is not sent: write the text itself in place of the tag.`,
      start: segment.place.start,
      end: segment.place.end,
      startCol: segment.startCol,
      endCol: segment.endCol,
    });
  }

  /** The part a reference stands for; null when the reference has to stay text. */
  async #attached(reference: FileReference, body: Body): Promise<Part | null> {
    const attachment = await attach(reference, this.#base);
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
    if (attachment.unsupported !== undefined) this.#reportUnsupported(source, attachment.unsupported);
    return attachment.part;
  }

  #reportUnsupported(source: string, mime: string): void {
    this.#diagnostics.push({
      code: "file_unsupported_mime",
      type: "file",
      severity: "warning",
      message: `No provider takes the type ${mime} of ${source}; only its path is sent. ` +
        "Add ;type=text/plain when it holds text.",
    });
  }

  async #resultPart(result: Result, turn: Turn): Promise<Part> {
    const name = this.#chat.call(result.id)?.name;
    const isError = result.status === "error";
    const mayRefer = !isError && name !== undefined && this.#templated.has(name);
    const reference = mayRefer ? onlyReference(result.content) : null;
    const body: Body = { value: result.content, role: turn.role, line: result.opener.start + 1 };
    const part = reference === null ? null : await this.#attached(reference, body);
    const parts: Part[] = part === null ? [] : [part];
    if (part === null) addText(parts, mayRefer ? unescapeReference(result.content) : result.content);
    return {
      kind: "tool_result",
      toolUseId: result.id,
      ...(name === undefined ? {} : { name }),
      isError,
      parts,
    };
  }

  #assistantParts(turn: Turn): readonly Part[] {
    const parts: Part[] = [];
    for (const segment of unescapeTurn(this.#chat, turn)) {
      if (segment.kind === "text") addText(parts, segment.value);
      else if (segment.kind === "thinking") {
        const { content, signature, redacted } = segment;
        parts.push({
          kind: "thinking",
          content,
          ...(signature === undefined ? {} : { signature }),
          redacted,
        });
      } else if (segment.kind === "tool_use") {
        const { id, name, input, inputText } = segment;
        parts.push({ kind: "tool_use", id, name, input, inputText });
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
      const status = this.#chat.result(call.id)?.status;
      if (status === null || status === "error") continue;
      if (!open.has(call.id)) {
        this.#diagnostics.push({
          code: "tool_use_unresolved",
          type: "tool_use",
          severity: "warning",
          message:
            `The call ${call.id} of ${call.name} has no final result; the provider is told that none was given.`,
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
  /** 1-based line on which the text begins, at its first column. */
  readonly line: number;
}

/** Line and byte columns of a reference. */
function position(
  reference: FileReference,
  body: Body,
): Pick<Diagnostic, "start" | "end" | "startCol" | "endCol"> {
  const before = body.value.slice(0, reference.from);
  const line = body.line + before.split("\n").length - 1;
  const startCol = byteLength(before.slice(before.lastIndexOf("\n") + 1)) + 1;
  const endCol = startCol + byteLength(body.value.slice(reference.from, reference.to)) - 1;
  return { start: line, end: line, startCol, endCol };
}

function folderOf(options: EvaluateOptions): string {
  const { document, environment } = options;
  return document === null ? environment.cwd : document.slice(0, document.lastIndexOf("/")) || "/";
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
