// Output of templates: texts, parts of files, and references to segments, collected in order.

import type { Cell, HostFunction } from "../../lua/vm/cell.ts";
import { TYPE, typeName } from "../../lua/vm/stack.ts";
import { toValue } from "../../lua/vm/values.ts";
import type { FileFlaw } from "../attach.ts";
import type { Part } from "../types.ts";

/** One piece of output. The caller resolves segments. */
export type Emitted =
  | { readonly kind: "text"; readonly text: string }
  | {
    readonly kind: "part";
    readonly part: Part;
    /** Path of the part's file, as passed to `include`. */
    readonly path: string;
  }
  | { readonly kind: "segment"; readonly turn: number; readonly index: number };

export interface FlawedFile {
  readonly path: string;
  readonly flaw: FileFlaw;
}

/** UTF-16 units of text that cost one step of the budget. */
const UNITS_PER_STEP = 64;

/** The output of the templates in one Lua cell. While a file is included, its output is collected separately. */
export class Output {
  readonly flawed: FlawedFile[] = [];
  #pieces: Emitted[] = [];
  #units = 0;

  /** Resets the count of text for a new evaluation. */
  open(): void {
    this.#units = 0;
  }

  /** Collects the output of `work` separately from earlier output. */
  gather(work: () => void): readonly Emitted[] {
    const outer = this.#pieces;
    const inner: Emitted[] = [];
    this.#pieces = inner;
    try {
      work();
    } finally {
      this.#pieces = outer;
    }
    return inner;
  }

  /** Adds a part or a segment; `units` is the length of its text. */
  add(cell: Cell, piece: Emitted, units = 0): void {
    this.#count(cell, units);
    this.#pieces.push(piece);
  }

  addText(cell: Cell, text: string): void {
    if (text === "") return;
    this.#count(cell, text.length);
    const last = this.#pieces.at(-1);
    if (last?.kind === "text") {
      this.#pieces[this.#pieces.length - 1] = { kind: "text", text: last.text + text };
    } else this.#pieces.push({ kind: "text", text });
  }

  #count(cell: Cell, units: number): void {
    cell.spend(1 + Math.ceil(units / UNITS_PER_STEP));
    this.#units += units;
    if (this.#units > cell.budget.limits.string) cell.exceed("string");
  }
}

const outputs = new WeakMap<Cell, Output>();

export function outputOf(cell: Cell): Output {
  const known = outputs.get(cell);
  if (known !== undefined) return known;
  const made = new Output();
  outputs.set(cell, made);
  return made;
}

/** `print` of templates: outputs the texts of all arguments without separators or line end. */
export const print: HostFunction = (cell) => {
  const output = outputOf(cell);
  for (let index = 1, count = cell.top(); index <= count; index++) {
    cell.pushToString(index);
    output.addText(cell, cell.text(-1) ?? "");
    cell.pop(1);
  }
  return 0;
};

export function emitValue(cell: Cell, index: number): void {
  const output = outputOf(cell);
  const type = cell.type(index);
  if (type === TYPE.nil || type === TYPE.none) return;
  if (type !== TYPE.table) {
    cell.pushToString(index);
    output.addText(cell, cell.text(-1) ?? "");
    cell.pop(1);
    return;
  }
  const at = cell.absolute(index);
  if (!cell.hasMetatable(at) && cell.pushMember(at, "emit") === TYPE.function) {
    cell.pushCopy(at);
    cell.callFunction(1, 1);
    // A method that the document defines may return the text instead of printing it.
    if (cell.type(-1) === TYPE.string) output.addText(cell, cell.text(-1)!);
    cell.pop(1);
    return;
  }
  cell.setTop(at);
  output.addText(cell, json(cell, at));
}

function json(cell: Cell, index: number): string {
  const refuse = (what: string) => cell.raise(`a table with ${what} cannot be written as JSON`);
  const value = toValue(cell, index, {
    key: (_, at) => refuse(`a ${typeName(cell.type(at))} key`),
    cycle: () => refuse("a reference to itself"),
    function: () => refuse("a function"),
  });
  return JSON.stringify(value, (_, member) => typeof member === "number" ? asLuaNumber(member) : member);
}

/** Rounds to fourteen digits, as Lua formats numbers. */
function asLuaNumber(value: number): number {
  return Number(value.toPrecision(14));
}
