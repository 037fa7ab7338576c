// What a call that writes a file would do to it, for the person who decides about the call: read at that moment, never kept.

import type { Environment } from "../../base/environment.ts";
import { folderOfDocument, resolvePath } from "../../base/paths.ts";
import { isSystemPath, readJudgedSync } from "../../base/reading.ts";
import { visible } from "../../base/visible.ts";
import { difference, type Hunk, splitLines } from "../../cycle/storage/lines.ts";
import type { Call } from "../../parser/types.ts";
import type { FileTexts } from "../types.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import { realPath } from "../../sandbox/paths/real_path.ts";
import { replacePassage } from "../../tools/files/text/passage.ts";
import { isAsSeen } from "../../tools/builtin/seen_files.ts";
import type { SeenFiles, ToolDefinition } from "../../tools/definition.ts";

/** Larger files are not compared. */
const MOST_BYTES = 1024 * 1024;
/** Lines around a change. */
const AROUND = 3;
/** Lines of a diff that are shown. */
const MOST_LINES = 400;

/** What is needed to find the file of a call. */
export interface WrittenFilesOptions {
  readonly environment: Environment;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  readonly sandbox: Pick<RunSandbox, "isPathReadable">;
  readonly seen: SeenFiles;
  tool(name: string): ToolDefinition | undefined;
}

/** What a call would do to a file, for a person who decides about it. */
export interface FileChangeShown {
  /** Real path of the file. */
  readonly real: string;
  /** The change as a unified diff; null where nothing can be compared, or nothing would change. */
  readonly diff: string | null;
  /** Whether the file is what the document's calls last saw of it; null when they never did. True for no file. */
  readonly asSeen: boolean | null;
  /** Why there is no change to be shown, as a sentence. */
  readonly obstacle: string | null;
}

/** Files as calls of one document would change them. */
export class WrittenFiles {
  readonly #options: WrittenFilesOptions;

  constructor(options: WrittenFilesOptions) {
    this.#options = options;
  }

  /** What a preview says beyond the call: that it replaces a file which no call of this document ever saw; null if not. */
  note(call: Pick<Call, "name" | "input">): string | null {
    if (call.name !== "write") return null;
    const real = this.#target(call);
    if (real === null || this.#options.seen.get(real) !== null || !isFile(real)) return null;
    return "replaces an unread file";
  }

  /**
   * The change as a unified diff; null for other calls, and where the file cannot be compared.
   *
   * @param mostLines where the diff is cut
   */
  diff(call: Pick<Call, "name" | "input">, mostLines: number = MOST_LINES): string | null {
    const real = this.#target(call);
    if (real === null) return null;
    const before = this.#read(real);
    if (before === undefined) return null;
    const after = changed(call, before);
    if (after === null) return null;
    const shown = visible(String(call.input.path));
    return unified(shown, before === null ? null : splitLines(before), splitLines(after), mostLines);
  }

  /** The whole change, and what a person should know of the file before it is made; null for other calls. */
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

  /** The file before and after; null for other calls, and where the file cannot be compared. */
  texts(call: Pick<Call, "name" | "input">): FileTexts | null {
    const real = this.#target(call);
    if (real === null) return null;
    const before = this.#read(real);
    if (before === undefined) return null;
    const after = changed(call, before);
    const text = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    if (after === null) return null;
    return { path: real, before: before === null ? null : text(before), after: text(after) };
  }

  /** Why there is no change to be shown, as a sentence; null where there is one. */
  #obstacle({ name, input }: Pick<Call, "name" | "input">, real: string): string | null {
    const before = this.#read(real);
    if (before === undefined) {
      return "The file cannot be compared: it is too large, no text, or may not be read.";
    }
    const { oldText, newText, replaceAll } = input;
    if (name !== "edit" || typeof oldText !== "string" || typeof newText !== "string") return null;
    if (before === null) return "There is no such file, so the edit will fail.";
    if (oldText === "") return "The passage to be replaced is empty, so the edit will fail.";
    const replaced = replacePassage(before, oldText, newText, { all: replaceAll === true });
    switch (replaced.kind) {
      case "absent":
        return "The passage to be replaced does not stand in the file, so the edit will fail.";
      case "ambiguous":
        return `The passage to be replaced stands in the file ${replaced.count} times, so the edit will fail.`;
      case "unchanged":
        return "The edit changes nothing, so it will fail.";
      case "replaced":
        return null;
    }
  }

  /** The real path of the file that a call of ours would write; null for other calls. */
  #target({ name, input }: Pick<Call, "name" | "input">): string | null {
    const { environment, document, tool } = this.#options;
    const definition = tool(name);
    const path = input[definition?.path_input ?? ""];
    if (definition?.files !== "write" || typeof path !== "string" || path === "") return null;
    const folder = document === null ? environment.cwd : folderOfDocument(document);
    return realPath(resolvePath(path, { folder, home: environment.home }), environment.cwd);
  }

  /** The bytes of the file, null when there is none, undefined when it may not or cannot be read as text. */
  #read(real: string): Uint8Array | null | undefined {
    if (isSystemPath(real) || !this.#options.sandbox.isPathReadable(real)) return undefined;
    try {
      const bytes = readJudgedSync(
        real,
        (at, { isFile, size }) => isFile && size <= MOST_BYTES && at === real ? null : "it is not compared",
      );
      return typeof bytes === "string" || bytes.includes(0) ? undefined : bytes;
    } catch (thrown) {
      return thrown instanceof Deno.errors.NotFound ? null : undefined;
    }
  }
}

/** The file after the call; null when the call would change nothing, or is none of ours. */
function changed(
  { name, input }: Pick<Call, "name" | "input">,
  before: Uint8Array | null,
): Uint8Array | null {
  const { content, oldText, newText, replaceAll } = input;
  if (name === "write") return typeof content === "string" ? new TextEncoder().encode(content) : null;
  if (name !== "edit" || before === null || typeof oldText !== "string" || typeof newText !== "string") {
    return null;
  }
  if (oldText === "") return null;
  const replaced = replacePassage(before, oldText, newText, { all: replaceAll === true });
  return replaced.kind === "replaced" ? replaced.bytes : null;
}

function isFile(real: string): boolean {
  try {
    return Deno.statSync(real).isFile;
  } catch {
    // Nothing that could be replaced.
    return false;
  }
}

/**
 * A unified diff, as `diff -u` writes it but for the times.
 *
 * @param path the name in its head
 * @param before the lines with their ends; null for a new file
 * @param after the lines with their ends
 * @param most how many lines of the diff are shown at most; of the others the number is told
 * @returns null where both are the same
 */
export function unified(
  path: string,
  before: readonly string[] | null,
  after: readonly string[],
  most = Infinity,
): string | null {
  const old = before ?? [];
  // What is too different is shown as what it is: one text for another.
  const hunks = difference(old, after, (line) => line) ?? [{ from: 0, to: old.length, at: 0, lines: after }];
  if (hunks.length === 0) return null;
  const out = [`--- ${before === null ? "/dev/null" : path}\n`, `+++ ${path}\n`];
  for (const group of grouped(hunks)) out.push(...passage(group, old, after));
  const shown = out.slice(0, most);
  if (out.length > most) shown.push(`… ${out.length - most} more lines\n`);
  return shown.join("");
}

/** Hunks whose surroundings touch stand in one passage. */
function grouped(hunks: readonly Hunk[]): Hunk[][] {
  const groups: Hunk[][] = [];
  for (const hunk of hunks) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && hunk.from - last.to <= 2 * AROUND) groups.at(-1)!.push(hunk);
    else groups.push([hunk]);
  }
  return groups;
}

function passage(group: readonly Hunk[], old: readonly string[], after: readonly string[]): string[] {
  const first = group[0]!;
  const last = group.at(-1)!;
  const from = Math.max(0, first.from - AROUND);
  const to = Math.min(old.length, last.to + AROUND);
  const at = first.at - (first.from - from);
  const end = last.at + last.lines.length + (to - last.to);
  const lines: string[] = [`@@ -${range(from, to)} +${range(at, end)} @@\n`];
  const put = (sign: string, line: string) =>
    lines.push(`${sign}${line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`}`);
  let reached = from;
  for (const hunk of group) {
    for (; reached < hunk.from; reached++) put(" ", old[reached]!);
    for (; reached < hunk.to; reached++) put("-", old[reached]!);
    for (let line = hunk.at; line < hunk.at + hunk.lines.length; line++) put("+", after[line]!);
  }
  for (; reached < to; reached++) put(" ", old[reached]!);
  return lines;
}

/** Lines as the head of a passage counts them: the first and how many; of none the line before. */
function range(from: number, to: number): string {
  const count = to - from;
  return `${count === 0 ? from : from + 1}${count === 1 ? "" : `,${count}`}`;
}
