// Converts values between Lua and JavaScript: texts, numbers, booleans, tables, and Lua functions that stay callable
// from outside.

import type { Cell, HostFunction } from "./cell.ts";
import { TYPE, typeName } from "./stack.ts";

/** A Lua function as a JavaScript function. It throws `LuaFailure` if the Lua code raises or reaches a limit. */
export type LuaFunction = (...args: readonly unknown[]) => unknown;

/** The failure of a call of a stored Lua function. */
export class LuaFailure extends Error {
  override readonly name = "LuaFailure";
  /** True if a limit was reached, and false if an error was raised. */
  readonly limit: boolean;

  constructor(message: string, limit: boolean) {
    super(message);
    this.limit = limit;
  }
}

const MOST_LEVELS = 100;

interface Kept {
  readonly cell: Cell;
  readonly reference: number;
}

const keptFunctions = new WeakMap<CallableFunction, Kept>();

/** How to convert values without a plain form. Each function may raise; the default is in brackets. */
export interface ReadRules {
  /** Returns the value that a table represents, or undefined to read its members [always the members]. */
  readonly table?: (cell: Cell, index: number) => { readonly value: unknown } | undefined;
  /** Returns the name for a key that is neither text nor number [its text for a boolean, else the name of its type]. */
  readonly key?: (cell: Cell, index: number) => string;
  /** Returns the value for a table inside itself [null]. */
  readonly cycle?: (cell: Cell) => unknown;
  /** Returns the value for a function [a `LuaFunction`]. */
  readonly function?: (cell: Cell, index: number) => unknown;
}

/**
 * Reads a value. Tables become arrays (positions 1 to n and nothing else, or empty) or plain objects with number keys
 * as text; nil becomes null.
 */
export function toValue(cell: Cell, index: number, rules: ReadRules = {}): unknown {
  return new Reader(cell, rules).read(cell.absolute(index));
}

class Reader {
  readonly #cell: Cell;
  readonly #rules: ReadRules;
  readonly #open: number[] = [];

  constructor(cell: Cell, rules: ReadRules) {
    this.#cell = cell;
    this.#rules = rules;
  }

  read(index: number): unknown {
    const cell = this.#cell;
    switch (cell.type(index)) {
      case TYPE.nil:
      case TYPE.none:
        return null;
      case TYPE.boolean:
        return cell.boolean(index);
      case TYPE.number:
        return cell.number(index);
      case TYPE.string:
        return cell.text(index);
      case TYPE.function:
        return this.#rules.function === undefined
          ? keepFunction(cell, index)
          : this.#rules.function(cell, index);
      case TYPE.table:
        return this.#table(index);
      default:
        return cell.raise("a value of this type cannot be passed out of Lua");
    }
  }

  #table(index: number): unknown {
    const cell = this.#cell;
    const taken = this.#rules.table?.(cell, index);
    if (taken !== undefined) return taken.value;
    const identity = cell.identity(index);
    if (this.#open.includes(identity)) return this.#rules.cycle?.(cell) ?? null;
    if (this.#open.length >= MOST_LEVELS) cell.raise(`tables are nested more than ${MOST_LEVELS} deep`);
    this.#open.push(identity);
    cell.reserve(4);
    const entries: [string | number, unknown][] = [];
    cell.pushNil();
    while (cell.next(index)) {
      cell.spend(1);
      const key = this.#key(cell.absolute(-2));
      entries.push([key, this.read(cell.absolute(-1))]);
      cell.pop(1);
    }
    this.#open.pop();
    const list = asList(entries);
    if (list !== null) return list;
    const object: Record<string, unknown> = {};
    for (const [key, value] of entries.sort(byKey)) define(object, String(key), value);
    return object;
  }

  #key(index: number): string | number {
    const cell = this.#cell;
    const type = cell.type(index);
    if (type === TYPE.number) return cell.number(index);
    if (type === TYPE.string) return cell.text(index)!;
    if (this.#rules.key !== undefined) return this.#rules.key(cell, index);
    return type === TYPE.boolean ? String(cell.boolean(index)) : typeName(type);
  }
}

/** Sorts positions first, then names, so that the order is the same in every run. */
function byKey([a]: [string | number, unknown], [b]: [string | number, unknown]): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function asList(entries: readonly [string | number, unknown][]): unknown[] | null {
  const list = new Array<unknown>(entries.length);
  for (const [key, value] of entries) {
    if (typeof key !== "number" || !Number.isInteger(key) || key < 1 || key > entries.length) return null;
    list[key - 1] = value;
  }
  return list;
}

/** Sets an own member, whatever its name (including `__proto__`). */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Pushes a plain value. `null` and `undefined` become nil, so such members are absent and such items leave a hole. */
export function pushValue(cell: Cell, value: unknown, level = 0): void {
  cell.reserve(4);
  if (value === null || value === undefined) cell.pushNil();
  else if (typeof value === "boolean") cell.pushBoolean(value);
  else if (typeof value === "number") cell.pushNumber(value);
  else if (typeof value === "string") cell.pushText(value);
  else if (typeof value === "function") pushFunction(cell, value);
  else if (level > MOST_LEVELS) cell.raise(`values are nested more than ${MOST_LEVELS} deep`);
  else if (Array.isArray(value)) {
    cell.pushTable();
    const table = cell.top();
    for (const [index, item] of value.entries()) {
      pushValue(cell, item, level + 1);
      cell.setItem(table, index + 1);
    }
  } else {
    cell.pushTable();
    const table = cell.top();
    for (const [key, member] of Object.entries(value)) {
      pushValue(cell, member, level + 1);
      cell.setMember(table, key);
    }
  }
}

function pushFunction(cell: Cell, value: CallableFunction): void {
  const kept = keptFunctions.get(value);
  if (kept?.cell !== cell) cell.raise("a function of another document cannot be passed to Lua");
  cell.pushKept(kept.reference);
}

/**
 * Returns a function that calls the Lua function at `index`, each time with the full budget unless Lua is already
 * running.
 */
export function keepFunction(
  cell: Cell,
  index: number,
  adapt: (args: readonly unknown[]) => readonly unknown[] = (args) => args,
): LuaFunction {
  cell.pushCopy(index);
  const reference = cell.keep();
  const call: LuaFunction = (...args) => {
    let result: unknown = null;
    const work: HostFunction = (inner) => {
      inner.pushKept(reference);
      const given = adapt(args);
      for (const value of given) pushValue(inner, value);
      inner.callFunction(given.length, 1);
      result = toValue(inner, -1);
      return 0;
    };
    const raised = cell.evaluate(work);
    if (raised !== null) throw new LuaFailure(raised.message, raised.limit);
    return result;
  };
  keptFunctions.set(call, { cell, reference });
  return call;
}
