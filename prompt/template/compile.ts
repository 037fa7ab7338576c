// Compilation of the segments of a message or included file to one Lua chunk, in which every tag has its own lines.

import type { Segment, TemplateSegment } from "../../parser/types.ts";

/** A chunk, and the segment that each of its lines belongs to. */
export interface TemplateChunk {
  readonly code: string;
  /** Segment and document line for each line of the chunk, line 1 at index 0; null for generated lines. */
  readonly lines: readonly (ChunkLine | null)[];
  /** Characters that count against the code limit: those of the tags, plus a constant for each tag. */
  readonly written: number;
}

export interface ChunkLine {
  readonly index: number;
  /** 1-based line of the document or file. */
  readonly line: number;
}

/**
 * The parameters of a chunk: `EMIT` outputs segment n, `SHOW` outputs the value that a function returns for expression
 * n. Control structures may begin in one tag and end in another, so only whole statements are generated between tags.
 */
const EMIT = "__emit";
const SHOW = "__show";
/** Constant that each tag adds to the length of its code, so that the number of small tags is limited too. */
const TAG = 8;
const MOST_QUOTED = 60;

/** Compiles the chunk. Segments other than texts and tags are output as if they were text. */
export function compileChunk(segments: readonly Segment[]): TemplateChunk {
  const out: string[] = [`local ${EMIT}, ${SHOW} = ...`];
  const lines: (ChunkLine | null)[] = [null];
  let written = 0;
  const addTag = (code: string, index: number, segment: TemplateSegment) => {
    written += TAG + segment.code.length;
    for (const [offset, text] of code.split("\n").entries()) {
      out.push(text);
      lines.push({ index, line: Math.min(segment.place.start + offset, segment.place.end) });
    }
  };
  segments.forEach((segment, index) => {
    if (segment.kind === "code") {
      if (!segment.raw) addTag(segment.code, index, segment);
    } else if (segment.kind === "expression") {
      // The line break before `end` ends a comment at the end of the expression.
      addTag(`; ${SHOW}(${index}, function() return ${segment.code}\nend);`, index, segment);
    } else {
      out.push(`; ${EMIT}(${index});`);
      lines.push(null);
    }
  });
  return { code: out.join("\n"), lines, written };
}

/**
 * Returns a chunk that contains only one expression. Compiling it detects code that would close the function around the
 * expression in the full chunk.
 */
export function expressionAlone(segment: TemplateSegment): string {
  return `return ${segment.code}\n`;
}

/** Returns the source of a tag without trim marks, which is output if the expression fails. */
export function sourceOf(segment: TemplateSegment): string {
  return segment.kind === "code" ? `{%${segment.code}%}` : `{{${segment.code}}}`;
}

export function quoteOf(segment: TemplateSegment): string {
  const [first = "", ...more] = sourceOf(segment).split("\n");
  return first.length > MOST_QUOTED || more.length > 0 ? `${first.slice(0, MOST_QUOTED)} …` : first;
}
