// Shows what a call would do to a file. The file is read at the moment when the person decides about the call.

import { isMissing } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";
import { resolvePath, workFolderOf } from "../../base/paths.ts";
import { readCheckedSync } from "../../base/system/reading.ts";
import { isSystemPath } from "../../base/system/system_files.ts";
import { visible } from "../../base/visible.ts";
import { splitLines } from "../../cycle/storage/lines.ts";
import type { Call } from "../../parser/types.ts";
import type { FileTexts } from "../types.ts";
import { formatUnifiedDiff } from "./unified.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { isAsSeen } from "../../tools/builtin/seen_files.ts";
import type { Rewrite, SeenFiles, ToolDefinition } from "../../tools/definition.ts";

/** Maximum number of bytes of files that are compared. */
const MOST_BYTES = 1024 * 1024;
/** Default number of diff lines to show. */
const MOST_LINES = 400;

export interface WrittenFilesOptions {
  readonly environment: Environment;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  readonly sandbox: Pick<RunSandbox, "isPathReadable">;
  readonly seen: SeenFiles;
  tool(name: string): ToolDefinition | undefined;
}

/** What a call would do to a file, for the person who decides about it. */
export interface FileChangeShown {
  /** Real path of the file. */
  readonly real: string;
  /** The change as a unified diff; null if it cannot be compared or nothing would change. */
  readonly diff: string | null;
  /**
   * True if the file is unchanged since the document's calls last read or wrote it, or does not exist; null if they
   * never did.
   */
  readonly asSeen: boolean | null;
  /** Reason why no change can be shown, as a sentence. */
  readonly obstacle: string | null;
}

/** Shows files as calls of one document would change them. */
export class WrittenFiles {
  readonly #options: WrittenFilesOptions;

  constructor(options: WrittenFilesOptions) {
    this.#options = options;
  }

  /** Returns the note for a call that replaces a file which no call of this document has seen; null for other calls. */
  note(call: Pick<Call, "name" | "input">): string | null {
    const real = this.#target(call);
    if (real === null || this.#options.seen.get(real) !== null || !isFile(real)) return null;
    // If the new text is known without reading the file, the call replaces the whole file.
    return this.#rewrite(call, null).after === null ? null : "replaces an unread file";
  }

  /**
   * Returns the change that a call would make, as a unified diff; null if the call writes no file, or if the file
   * cannot be compared.
   *
   * @param mostLines number of diff lines to show
   */
  diff(call: Pick<Call, "name" | "input">, mostLines: number = MOST_LINES): string | null {
    const real = this.#target(call);
    if (real === null) return null;
    const before = this.#read(real);
    if (before === undefined) return null;
    const { after } = this.#rewrite(call, before);
    if (after === null) return null;
    const shown = visible(String(call.input.path));
    return formatUnifiedDiff(
      shown,
      before === null ? null : splitLines(before),
      splitLines(after),
      mostLines,
    );
  }

  /**
   * Returns the complete change that a call would make, and facts about the file that the person should know first;
   * null if the call writes no file.
   */
  async change(call: Pick<Call, "name" | "input">): Promise<FileChangeShown | null> {
    const real = this.#target(call);
    if (real === null) return null;
    return {
      real,
      diff: this.diff(call, Infinity),
      asSeen: isFile(real) ? await isAsSeen(this.#options.seen, real) : true,
      obstacle: this.#obstacle(call, real),
    };
  }

  /**
   * Returns the text of the file before and after the call; null if the call writes no file, or if the file cannot be
   * compared.
   */
  texts(call: Pick<Call, "name" | "input">): FileTexts | null {
    const real = this.#target(call);
    if (real === null) return null;
    const before = this.#read(real);
    if (before === undefined) return null;
    const { after } = this.#rewrite(call, before);
    const text = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    if (after === null) return null;
    return { path: real, before: before === null ? null : text(before), after: text(after) };
  }

  /** Returns why no change can be shown, as a sentence; null if one can be shown. */
  #obstacle(call: Pick<Call, "name" | "input">, real: string): string | null {
    const before = this.#read(real);
    if (before !== undefined) return this.#rewrite(call, before).obstacle;
    return "The file cannot be compared: it is too large, is not text, or cannot be read.";
  }

  #rewrite({ name, input }: Pick<Call, "name" | "input">, before: Uint8Array | null): Rewrite {
    return this.#options.tool(name)?.rewrites?.(input, before) ?? { after: null, obstacle: null };
  }

  /** Returns the real path of the file that a call of a file-writing tool would write; null for other calls. */
  #target({ name, input }: Pick<Call, "name" | "input">): string | null {
    const { environment, document, tool } = this.#options;
    const definition = tool(name);
    const path = input[definition?.path_input ?? ""];
    if (definition?.files !== "write" || typeof path !== "string" || path === "") return null;
    const folder = workFolderOf(environment, document);
    return realPath(resolvePath(path, { folder, home: environment.home }), environment.cwd);
  }

  /**
   * Returns the bytes of the file; null if there is none; undefined if it may not be read, or is not readable as text.
   */
  #read(real: string): Uint8Array | null | undefined {
    if (isSystemPath(real) || !this.#options.sandbox.isPathReadable(real)) return undefined;
    try {
      const bytes = readCheckedSync(
        real,
        (at, { isFile, size }) =>
          isFile && size <= MOST_BYTES && at === real ? null : "it cannot be compared",
      );
      return typeof bytes === "string" || bytes.includes(0) ? undefined : bytes;
    } catch (thrown) {
      return isMissing(thrown) ? null : undefined;
    }
  }
}

function isFile(real: string): boolean {
  try {
    return Deno.statSync(real).isFile;
  } catch {
    // Nothing that the call could replace exists at the path.
    return false;
  }
}
