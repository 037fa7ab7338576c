// What those who change the text of a bundle share: nodes of its syntax tree, and which functions were called.

/** A node of the tree; offsets are characters. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A part of the text, and what is to stand there. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Where functions end in a file, and where those that end there start, in characters; as the engine reports them. */
export type Called = ReadonlyMap<number, ReadonlySet<number>>;

/** Whether the engine met the function: it reports where the parameters begin, or where an arrow function does. */
export function isCalled({ start, end, body }: Node & { readonly body: Node }, called: Called): boolean {
  const starts = called.get(end);
  if (starts === undefined) return false;
  for (const each of starts) if (each >= start && each < body.start) return true;
  return false;
}
