// Resolution of file references in a text: message parts, and diagnostics about unreadable files.

import type { PathBase } from "../base/paths.ts";
import type { Diagnostic } from "../parser/types.ts";
import { attach, fileFinding, namedText } from "./attach.ts";
import type { FileLog } from "./file_log.ts";
import { type FileReference, fileReferences } from "./file_references.ts";
import { addText } from "./parts.ts";
import type { Part } from "./types.ts";

/** A literal text and its position, for diagnostics about its references. */
export interface Body {
  readonly value: string;
  readonly role: string;
  /** 1-based line and byte column at which the text begins. */
  readonly line: number;
  readonly column: number;
}

export interface ReferenceOptions {
  readonly base: PathBase;
  readonly files: FileLog;
  /** True if attached text includes its path. */
  readonly areNamed: boolean;
  readonly ready?: () => Promise<void>;
  report(finding: Diagnostic): void;
}

export class References {
  readonly #options: ReferenceOptions;

  constructor(options: ReferenceOptions) {
    this.#options = options;
  }

  /** Returns the literal text from `from` to `to` as parts, with referenced files in place of their references. */
  async inText(
    body: Body,
    { from, to }: { readonly from: number; readonly to: number },
  ): Promise<readonly Part[]> {
    const parts: Part[] = [];
    let reached = from;
    for (const reference of fileReferences(body.value)) {
      const part = await this.attached(reference, body);
      if (part === null) continue;
      addText(parts, body.value.slice(reached, reference.from));
      parts.push(this.named(part, pathOf(reference, part)));
      reached = reference.to;
    }
    addText(parts, body.value.slice(reached, to));
    return parts;
  }

  /** Adds the path as the person wrote it to a text file, so that the model can distinguish files. */
  named(part: Part, path: string): Part {
    return this.#options.areNamed && part.kind === "text_file"
      ? { ...part, text: namedText(path, part.text, part.lines) }
      : part;
  }

  /** Returns the part for a reference; null if the reference stays text. */
  async attached(reference: FileReference, body: Body): Promise<Part | null> {
    await this.#options.ready?.();
    const attachment = await attach(reference, this.#options.base, this.#options.files);
    const source = body.value.slice(reference.from, reference.to);
    if (reference.unknownOption !== undefined) {
      this.#options.report({
        code: "file_option_unknown",
        type: "file",
        severity: "warning",
        message: `Ignored the unknown option of ${source}; the only option is ;type=MIME.`,
        ...position(reference, body),
      });
    }
    if (attachment.kind === "missing") {
      this.#options.report({
        code: "file_not_found",
        type: "file",
        severity: "warning",
        message: `The file ${attachment.path} of the @${body.role} message cannot be read ` +
          `(${attachment.reason}); flemma sends ${source} as text.`,
        ...position(reference, body),
      });
      return null;
    }
    if (attachment.flaw !== undefined) {
      this.#options.report({
        ...fileFinding(source, attachment.flaw, "If it contains text, add ;type=text/plain."),
        ...position(reference, body),
      });
    }
    if (attachment.excerptFlaw !== undefined) {
      this.#options.report({
        ...fileFinding(source, attachment.excerptFlaw, ""),
        ...position(reference, body),
      });
    }
    return attachment.part;
  }
}

/** The path in a reference, without the lines if the part is an excerpt. */
function pathOf({ path, excerpt }: FileReference, part: Part): string {
  return part.kind === "text_file" && part.lines !== undefined ? excerpt?.path ?? path : path;
}

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

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
