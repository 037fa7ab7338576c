// From the segments of a message or an included file to one Lua chunk, in which every tag has lines of its own.

import type { Segment, TemplateSegment } from "../../parser/types.ts";

/** A chunk, and which segment each of its lines belongs to. */
export interface Chunk {
  readonly code: string;
  /** Segment and line of the document for each line of the chunk; line 1 is at 0. Null for lines of ours. */
  readonly lines: readonly (ChunkLine | null)[];
  /** Characters that count against the limit on code: those of the tags, and a few for each tag. */
  readonly written: number;
}

export interface ChunkLine {
  readonly index: number;
  /** Line of the document or file, 1-based. */
  readonly line: number;
}

/**
 * The two functions that a chunk is called with: one puts segment number n out, the other the value that a function
 * answers for expression number n. Control structures may begin in one tag and end in another, so nothing of ours
 * stands between tags but whole statements.
 */
const EMIT = "__emit";
const SHOW = "__show";
/** What a tag counts beside its code, so that the statements around many small ones stay few too. */
const TAG = 8;
/** Characters of a tag that a sentence shows. */
const MOST_QUOTED = 60;

/** Makes the chunk. Segments that are neither text nor tag are put out like text. */
export function compileChunk(segments: readonly Segment[]): Chunk {
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
      // The line break in front of `end` closes a comment at the end of the expression.
      addTag(`; ${SHOW}(${index}, function() return ${segment.code}\nend);`, index, segment);
    } else {
      out.push(`; ${EMIT}(${index});`);
      lines.push(null);
    }
  });
  return { code: out.join("\n"), lines, written };
}

/** An expression on its own, to see whether it is one: what closes the function around it is none. */
export function expressionAlone(segment: TemplateSegment): string {
  return `return ${segment.code}\n`;
}

/** The tag as it stands in the text, without trim marks: what is left of an expression that fails. */
export function sourceOf(segment: TemplateSegment): string {
  return segment.kind === "code" ? `{%${segment.code}%}` : `{{${segment.code}}}`;
}

/** The tag in a sentence: no more of it than helps to find it. */
export function quoteOf(segment: TemplateSegment): string {
  const [first = "", ...more] = sourceOf(segment).split("\n");
  return first.length > MOST_QUOTED || more.length > 0 ? `${first.slice(0, MOST_QUOTED)} …` : first;
}
