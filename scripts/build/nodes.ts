// Parts that the transformations of a bundle share: syntax tree nodes, and which functions were called.

/** A syntax tree node; offsets are characters. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A range of the text, and its replacement. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Ends of functions in a file, each with the starts of the functions that end at it. They are counted in characters,
 * as the engine reports them.
 */
export type Called = ReadonlyMap<number, ReadonlySet<number>>;

/**
 * True if the engine saw the function. It reports where the parameters begin or, for an arrow function, where the
 * function begins.
 */
export function isCalled({ start, end, body }: Node & { readonly body: Node }, called: Called): boolean {
  const starts = called.get(end);
  if (starts === undefined) return false;
  for (const each of starts) if (each >= start && each < body.start) return true;
  return false;
}
