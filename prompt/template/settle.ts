// Compilation of a message or included file, in which quoted tags that are not Lua stay text.

import type { Cell } from "../../lua/vm/cell.ts";
import type { Segment, TemplateSegment } from "../../parser/types.ts";
import { compileChunk, expressionAlone, type TemplateChunk } from "./compile.ts";
import type { Fence } from "../../parser/text/fences.ts";
import { fenceAround, isTag } from "./quoted.ts";

export interface TagFault {
  readonly segment: TemplateSegment;
  readonly message: string;
  /** 1-based line of the document or file. */
  readonly line: number;
}

/**
 * Result of the compilation. If there are faults, `chunk` is null. Otherwise the stack of the cell has the function of
 * the chunk.
 */
export interface Settled {
  /** The given segments, in which a text replaces each tag that is not run. */
  readonly segments: readonly Segment[];
  readonly chunk: TemplateChunk | null;
  readonly faults: readonly TagFault[];
}

export interface Template {
  readonly segments: readonly Segment[];
  readonly fences: readonly Fence[];
  readonly name: string;
  source(tag: TemplateSegment): string;
}

/**
 * Compiles the tags. Call this inside `cell.enter`. If a tag in a closed fence is not valid Lua, it stays text, because
 * most quoted tags are from other languages. The code tags of a fence are checked together, because a statement may
 * begin in one tag and end in another.
 */
export function compileTags(cell: Cell, template: Template, left: ReadonlySet<number> = new Set()): Settled {
  const { fences, name } = template;
  const segments = [...template.segments];
  const leave = (index: number) => {
    const tag = segments[index]!;
    if (isTag(tag)) segments[index] = tagToText(tag, template);
  };
  left.forEach(leave);
  const faults: TagFault[] = [];
  segments.forEach((segment, index) => {
    if (segment.kind !== "expression") return;
    const fault = cell.load(expressionAlone(segment), name);
    if (fault === null) cell.pop(1);
    else if (fenceAround(fences, segment) !== undefined) leave(index);
    else {
      const line = Math.min(segment.place.end, segment.place.start + (fault.line ?? 1) - 1);
      faults.push({ segment, message: fault.message, line });
    }
  });
  if (faults.length > 0) return { segments, chunk: null, faults };
  let chunk = compileChunk(segments);
  let fault = cell.load(chunk.code, name, chunk.written);
  if (fault !== null) {
    const foreign = fences.flatMap((fence) => foreignCode(cell, segments, fence, template));
    if (foreign.length > 0) {
      foreign.forEach(leave);
      chunk = compileChunk(segments);
      fault = cell.load(chunk.code, name, chunk.written);
    }
  }
  if (fault === null) return { segments, chunk, faults: [] };
  return { segments, chunk: null, faults: [tagFault(segments, chunk, fault.message, fault.line)] };
}

/** Returns the indexes of a fence's code tags if they are not valid Lua on their own. */
function foreignCode(
  cell: Cell,
  segments: readonly Segment[],
  fence: Fence,
  { name }: Template,
): readonly number[] {
  const within = segments.flatMap((segment, index) =>
    isTag(segment) && !segment.raw && fenceAround([fence], segment) !== undefined ? [index] : []
  );
  const code = within.filter((index) => segments[index]!.kind === "code");
  if (code.length === 0) return [];
  const chunk = compileChunk(within.map((index) => segments[index]!));
  if (cell.load(chunk.code, name, chunk.written) !== null) return code;
  cell.pop(1);
  return [];
}

/** Finds the tag that a line of the chunk belongs to, or the last one before the syntax error. */
function tagFault(
  segments: readonly Segment[],
  chunk: TemplateChunk,
  message: string,
  line: number | null,
): TagFault {
  const upTo = chunk.lines.slice(0, line ?? chunk.lines.length);
  const place = upTo.findLast((each) => each !== null) ?? chunk.lines.find((each) => each !== null)!;
  // Lua's line number refers to the chunk.
  const plainMessage = message.replace(/ at line \d+(?=\) near )/, "");
  return { segment: segments[place.index] as TemplateSegment, message: plainMessage, line: place.line };
}

/** Converts a tag to raw text, which is not searched for references. */
export function tagToText(tag: TemplateSegment, template: Template): Segment {
  return { kind: "text", value: template.source(tag), place: tag.place, raw: true };
}
