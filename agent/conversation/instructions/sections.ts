// Where instructions are in a document: included in the system prompt, or as sections of results.

import type { Chat } from "../../../parser/types.ts";

/** Bytes at the beginning of a document in which a generated system prompt is looked for. */
const MOST_OF_BEGINNING = 64 * 1024;

/** True if a document includes the project's instructions. */
export function includesInstructions({ bytes }: Pick<Chat, "bytes">): boolean {
  return new TextDecoder().decode(bytes.subarray(0, MOST_OF_BEGINNING)).includes("urn:flemma:personality:");
}

/** The line above the instructions of a file in a result. */
export function headOf(path: string): string {
  return `[instructions of ${path}]`;
}

/** Instructions of a file in a result. */
export interface InstructionSection {
  readonly path: string;
  readonly text: string;
}

/** Returns the instructions in the results of a document, in order. */
export function instructionSections({ results }: Pick<Chat, "results">): readonly InstructionSection[] {
  return results.flatMap(({ content }) => {
    const parts = content.split(HEAD);
    // Between two heads is one text, and before the first one the result.
    return parts.flatMap((path, at) => at % 2 === 1 ? [{ path, text: parts[at + 1]!.trim() }] : []);
  });
}

const HEAD = /^\[instructions of ([^\]\n]*)\]$/m;
