// Reads the frontmatter of a SKILL.md: its extent, and its YAML, tolerating common mistakes.

import { isObject } from "../../base/is_object.ts";
import type { SourceTree } from "../../config/sources/yaml.ts";
import type { SkillFinding } from "./skill.ts";

/** Frontmatter values and their positions. */
export interface SkillFrontmatter {
  readonly values: Readonly<Record<string, unknown>>;
  /** Position of a key, or of its value. */
  placeOf(key: string, part: "key" | "value"): { readonly line: number; readonly column: number };
  /** The text after the frontmatter. */
  readonly body: string;
  /** First line of that text, 1-based. */
  readonly bodyLine: number;
  /** Mistakes in the frontmatter that did not prevent reading what was meant. */
  readonly findings: readonly SkillFinding[];
}

/** Reads the frontmatter of a text without byte order mark, or says why it cannot be read. */
export async function readSkillFrontmatter(
  text: string,
): Promise<SkillFrontmatter | { readonly findings: readonly SkillFinding[] }> {
  const lines = text.split("\n");
  if (!isFence(lines[0])) {
    const message = lines.some((line) => line.trim() !== "")
      ? 'the file must begin with "---", then name and description, then another "---"'
      : "the file is empty";
    return { findings: [skillError(1, 1, "skill_frontmatter_missing", message)] };
  }
  const end = lines.findIndex((line, at) => at > 0 && isFence(line));
  if (end < 0) {
    const message = 'the frontmatter that begins here has no closing line "---"';
    return { findings: [skillError(1, 1, "skill_frontmatter_unclosed", message)] };
  }
  const written = lines.slice(1, end);
  const read = await readYaml(written);
  if ("findings" in read) return read;
  const { tree, slips } = read;
  const values = tree.value ?? {};
  if (!isObject(values)) {
    const message = "the frontmatter must consist of lines such as name: NAME";
    return { findings: [skillError(2, 1, "skill_frontmatter_invalid", message)] };
  }
  return {
    values,
    placeOf: (key, part) =>
      placeIn(tree.place({
        code: "config_invalid_value",
        severity: "error",
        key,
        message: "",
        written: [key],
        atKey: part === "key",
      })),
    body: lines.slice(end + 1).join("\n"),
    bodyLine: end + 2,
    findings: [...slips, ...cutByComments(written)],
  };
}

export function skillError(line: number, column: number, code: string, message: string): SkillFinding {
  return { line, column, severity: "error", code, message };
}

function isFence(line: string | undefined): boolean {
  return line !== undefined && /^---[ \t]*\r?$/.test(line);
}

/** Keys whose values are plain text whatever characters they contain. */
const TEXTS = /^(description|compatibility|license):[ \t]+(?=[^\s"'|>])/;

/** Parses the lines as YAML; if that fails, tries once more with plain texts quoted. */
async function readYaml(
  written: readonly string[],
): Promise<
  { readonly tree: SourceTree; readonly slips: readonly SkillFinding[] } | {
    readonly findings: readonly SkillFinding[];
  }
> {
  const { parseSource } = await import("../../config/sources/yaml.ts");
  // An empty line takes the place of the opening line, so that line numbers are those of the file.
  const parse = (lines: readonly string[]) => parseSource(["", ...lines].join("\n"));
  const parsed = await parse(written);
  if (parsed.ok) return { tree: parsed.value, slips: [] };
  const quoted = quoteTexts(written);
  const again = quoted === null ? null : await parse(quoted);
  if (again?.ok) {
    const { place } = parsed.problem[0]!;
    const { line, column } = placeIn(place);
    const key = keyAbove(written, line - 2);
    const message = `the ${key} is not valid YAML and was read as text; put it in double quotes`;
    return {
      tree: again.value,
      slips: [{ line, column, severity: "warning", code: "skill_text_unquoted", message }],
    };
  }
  return {
    findings: parsed.problem.map(({ place, message }) => {
      const { line, column } = placeIn(place);
      return skillError(
        line,
        column,
        "skill_frontmatter_invalid",
        `the frontmatter is not valid YAML: ${message}`,
      );
    }),
  };
}

/** The lines with every plain text quoted; null if there is none to quote. */
function quoteTexts(lines: readonly string[]): string[] | null {
  const quoted: string[] = [];
  let found = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const head = TEXTS.exec(line);
    if (head === null) {
      quoted.push(line);
      continue;
    }
    found = true;
    const parts = [line.slice(head[0].length)];
    // Continuation lines of the same text are indented.
    while (/^[ \t]+\S/.test(lines[at + parts.length] ?? "")) parts.push(lines[at + parts.length]!);
    quoted.push(`${head[0]}${JSON.stringify(parts.map((part) => part.trim()).join(" "))}`);
    for (let more = 1; more < parts.length; more++) quoted.push("");
    at += parts.length - 1;
  }
  return found ? quoted : null;
}

/** The key to which the line with this index belongs. */
function keyAbove(lines: readonly string[], index: number): string {
  for (let at = Math.min(index, lines.length - 1); at >= 0; at--) {
    const key = /^([\w-]+):/.exec(lines[at]!)?.[1];
    if (key !== undefined) return key;
  }
  return "description";
}

/** Texts that YAML cuts at a blank and #, although authors rarely mean a comment inside a sentence. */
function cutByComments(lines: readonly string[]): SkillFinding[] {
  return lines.flatMap((line, at) => {
    const head = TEXTS.exec(line);
    const comment = head === null ? -1 : line.slice(head[0].length).search(/\s#/);
    if (comment < 0) return [];
    const column = head![0].length + comment + 2;
    const message = `the ${head![1]} ends before this #, which begins a comment; put it in double quotes`;
    return [{ line: at + 2, column, severity: "warning", code: "skill_text_cut", message }];
  });
}

function placeIn(place: string): { readonly line: number; readonly column: number } {
  const [line = 1, column = 1] = place.split(":").map(Number);
  return { line, column };
}
