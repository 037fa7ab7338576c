// From the segments of a message or an included file to a function, tags that are no Lua left as text where they are quoted.

import type { Cell } from "../../lua/vm/cell.ts";
import type { Segment, TemplateSegment } from "../../parser/types.ts";
import { type Chunk, compileChunk, expressionAlone } from "./compile.ts";
import type { Fence } from "../../parser/text/fences.ts";
import { fenceAround, isTag } from "./quoted.ts";

/** A tag that is no Lua. */
export interface TagFault {
  readonly segment: TemplateSegment;
  /** What Lua says. */
  readonly message: string;
  /** 1-based line of the document or file. */
  readonly line: number;
}

/** What is run: `chunk` is null when there are faults, else its function lies on the cell's stack. */
export interface Settled {
  /** As given, with a text in place of each tag that is left as it stands. */
  readonly segments: readonly Segment[];
  readonly chunk: Chunk | null;
  readonly faults: readonly TagFault[];
}

/** What is compiled. */
export interface Template {
  readonly segments: readonly Segment[];
  readonly fences: readonly Fence[];
  /** Name of the chunk. */
  readonly name: string;
  /** The exact text of a tag. */
  source(tag: TemplateSegment): string;
}

/**
 * Compiles the tags, inside `cell.enter`. A tag in a closed fence that is no Lua is text, for most of what is quoted has
 * tags of another language. Code in a fence is judged with all code of that fence, as only together it may be whole.
 */
export function settle(cell: Cell, template: Template, left: ReadonlySet<number> = new Set()): Settled {
  const { fences, name } = template;
  const segments = [...template.segments];
  const leave = (index: number) => {
    const tag = segments[index]!;
    if (isTag(tag)) segments[index] = leftAsText(tag, template);
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

/** The code tags of a fence, by their positions, if they are no Lua by themselves. */
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

/** The tag to which a line of the chunk belongs, or after which what Lua stumbles over begins. */
function tagFault(
  segments: readonly Segment[],
  chunk: Chunk,
  message: string,
  line: number | null,
): TagFault {
  const upTo = chunk.lines.slice(0, line ?? chunk.lines.length);
  const place = upTo.findLast((each) => each !== null) ?? chunk.lines.find((each) => each !== null)!;
  // The line that Lua names is one of the chunk.
  const reported = message.replace(/ at line \d+(?=\) near )/, "");
  return { segment: segments[place.index] as TemplateSegment, message: reported, line: place.line };
}

/** What stands in place of a tag that is left as it stands: nothing in it is looked for. */
export function leftAsText(tag: TemplateSegment, template: Template): Segment {
  return { kind: "text", value: template.source(tag), place: tag.place, raw: true };
}
