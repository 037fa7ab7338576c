/**
 * The document format for other programs: parses documents to messages, calls and results, and creates the edits that
 * change them. It uses no system functions, so it runs wherever JavaScript does.
 *
 * ```ts
 * import { parse } from "flemma/parser";
 *
 * const chat = parse(new TextEncoder().encode("@You:\nHello\n"));
 * console.log(chat.turns[0]?.role); // You
 * ```
 *
 * @module
 */

import "./tree/trees.ts";

export { unescapeTurn } from "./edits/escape.ts";
export type { LineChange } from "./edits/line_change.ts";
export { insertBlocks, type Insertion, writeResult } from "./edits/placement.ts";
export {
  type FinalBlock,
  isPlaceholder,
  placeholderStyle,
  rejectWith,
  setStatus,
  stripStatus,
  type WrittenStyle,
} from "./edits/result_block.ts";
export { applyEdits, type ByteEdit, diagnosticJson, type Edit, parse, toJson, update } from "./mod.ts";
export { type Prose, proseOf } from "./prose.ts";
export type * from "./json.ts";
export type * from "./types.ts";
export { editBetween, offsetAt, offsetAtUnits, type Position, positionAt, unitsAt } from "./utf16.ts";
