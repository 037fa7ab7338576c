// The global names of a document's Lua code, and strict checks when they are read.

import { folderOfDocument } from "../../base/paths.ts";
import type { Cell, HostFunction } from "../vm/cell.ts";
import { TYPE } from "../vm/stack.ts";
import { clock, date, time } from "./clock.ts";
import { UndefinedName } from "./fault.ts";
import { type CellWorld, guardFunctions, pathFunctions, textFunctions } from "./host.ts";
import { PRELUDE } from "./prelude.ts";

/** Parameters of one environment for chunks. */
export interface EnvironmentSpec {
  /** Absolute path of the chunk's file; null if unsaved. */
  readonly filename: string | null;
  readonly print: HostFunction;
  readonly include: HostFunction;
  /** Pushes the `flemma` table; only frontmatter has one. */
  readonly pushFlemma?: (cell: Cell) => void;
}

/** An environment on the Lua side, with its initial names. */
export interface LuaEnvironment {
  /** Reference to the environment's table. */
  readonly reference: number;
  readonly builtins: ReadonlySet<string>;
}

/** Values that exist once per library: keys of include options. */
export interface Symbols {
  readonly binary: number;
  readonly mime: number;
}

/**
 * Reads a table that represents settings: pushes the table's plain value and returns true, or raises an error. Returns
 * false for any other table.
 */
export type SettingsValue = (cell: Cell, index: number) => boolean;

/** The library of one cell. It is built once and creates environments. */
export class Library {
  readonly #cell: Cell;
  readonly #builtins: number;
  readonly #copy: number;
  readonly symbols: Symbols;
  /**
   * Reads tables that represent settings. Set by the code that provides settings; by default no table represents
   * settings.
   */
  settingsValue: SettingsValue = () => false;

  /** Builds the library. Call it inside `cell.enter`. */
  constructor(cell: Cell, world: CellWorld) {
    this.#cell = cell;
    const top = cell.top();
    const fault = cell.loadNative(PRELUDE, "cell");
    if (fault !== null) throw new Error(`the prelude does not compile: ${fault.message}`);
    pushLibraries(cell);
    this.#pushHost(world);
    cell.callFunction(2, 3);
    this.symbols = { binary: keepMember(cell, "BINARY"), mime: keepMember(cell, "MIME") };
    cell.pop(1);
    this.#copy = cell.keep();
    this.#builtins = cell.keep();
    cell.setTop(top);
  }

  /** Creates an environment with only the built-in names. Call it inside `cell.enter`. */
  environment(spec: EnvironmentSpec): LuaEnvironment {
    const cell = this.#cell;
    const top = cell.top();
    cell.pushKept(this.#builtins);
    cell.callFunction(0, 1);
    const table = top + 1;
    cell.pushFunction(spec.print);
    cell.setMember(table, "print");
    cell.pushFunction(spec.include);
    cell.setMember(table, "include");
    if (spec.filename !== null) {
      cell.pushText(spec.filename);
      cell.setMember(table, "__filename");
      cell.pushText(folderOfDocument(spec.filename));
      cell.setMember(table, "__dirname");
    }
    if (spec.pushFlemma !== undefined) {
      spec.pushFlemma(cell);
      cell.setMember(table, "flemma");
    }
    // Names that are known without a value: those that LuaJIT lacks, or that an unsaved document lacks.
    const builtins = new Set(["utf8", "__filename", "__dirname"]);
    eachMember(cell, table, (name) => builtins.add(name));
    this.#makeStrict(table, new Set(builtins));
    const reference = cell.keep();
    cell.setTop(top);
    return { reference, builtins };
  }

  /** Pushes a copy of the value at `index` that shares no table with it. */
  pushDeepCopy(index: number): void {
    const at = this.#cell.absolute(index);
    this.#cell.pushKept(this.#copy);
    this.#cell.pushCopy(at);
    this.#cell.callFunction(1, 1);
  }

  /** Sets the environment in which the function on top of the stack finds its global names. */
  bind(environment: LuaEnvironment): void {
    this.#cell.pushKept(environment.reference);
    this.#cell.setEnvironment(-2);
  }

  /**
   * Pushes a table with deep copies of what a chunk defined: every global that was not in the environment initially and
   * is not nil.
   */
  pushDefined(environment: LuaEnvironment): void {
    const cell = this.#cell;
    cell.pushTable();
    const out = cell.top();
    cell.pushKept(environment.reference);
    const table = cell.top();
    const names: string[] = [];
    eachMember(cell, table, (name) => {
      if (!environment.builtins.has(name)) names.push(name);
    });
    for (const name of names) {
      cell.pushMember(table, name);
      this.pushDeepCopy(-1);
      cell.setMember(out, name);
      cell.pop(1);
    }
    cell.setTop(out);
  }

  /** Defines each member of the table on top as a global, except built-in names; pops the table. */
  define(environment: LuaEnvironment): void {
    const cell = this.#cell;
    const source = cell.top();
    cell.pushKept(environment.reference);
    const table = cell.top();
    const names: string[] = [];
    eachMember(cell, source, (name) => names.push(name));
    for (const name of names) {
      if (environment.builtins.has(name)) continue;
      cell.pushMember(source, name);
      this.pushDeepCopy(-1);
      cell.setMember(table, name);
      cell.pop(1);
    }
    cell.setTop(source - 1);
  }

  /** Makes reading an undefined name raise an error. A name is defined once it was assigned, even if to nil. */
  #makeStrict(table: number, defined: Set<string>): void {
    const cell = this.#cell;
    cell.pushTable();
    cell.pushFunction((inner) => {
      const name = inner.text(2) ?? "?";
      if (!defined.has(name)) inner.raise(`the variable "${name}" is not defined`, new UndefinedName(name));
      inner.pushNil();
      return 1;
    });
    cell.setMember(-2, "__index");
    cell.pushFunction((inner) => {
      const name = inner.text(2);
      if (name !== null) defined.add(name);
      inner.rawSet(1);
      return 0;
    });
    cell.setMember(-2, "__newindex");
    cell.setMetatable(table);
  }

  #pushHost(world: CellWorld): void {
    const cell = this.#cell;
    cell.pushTable();
    const table = cell.top();
    cell.pushMember(table - 1, "string");
    cell.pushMember(-1, "format");
    const rawFormat = cell.keep();
    cell.pop(1);
    const functions: Readonly<Record<string, HostFunction>> = {
      ...textFunctions(rawFormat),
      clock,
      date,
      time,
      ...guardFunctions,
      ...pathFunctions(world),
      settings_value: (inner) => {
        if (!this.settingsValue(inner, 1)) inner.pushNil();
        return 1;
      },
    };
    for (const [name, run] of Object.entries(functions)) {
      cell.pushFunction(run);
      cell.setMember(table, name);
    }
  }
}

/** Opens the four Lua libraries in use and pushes the table of globals that contains them. */
function pushLibraries(cell: Cell): void {
  const { luaopen_base, luaopen_string, luaopen_table, luaopen_math } = cell.lua;
  cell.pushExport(luaopen_base);
  cell.callFunction(0, 1);
  const globals = cell.top();
  const libraries = { string: luaopen_string, table: luaopen_table, math: luaopen_math };
  for (const [name, open] of Object.entries(libraries)) {
    cell.pushExport(open);
    cell.callFunction(0, 1);
    cell.setMember(globals, name);
  }
}

/** Stores a member of the table on top; returns its reference. */
function keepMember(cell: Cell, name: string): number {
  cell.pushMember(-1, name);
  return cell.keep();
}

/** Calls `see` with the string keys of a table; the table may be changed only afterwards. */
function eachMember(cell: Cell, table: number, see: (name: string) => void): void {
  cell.pushNil();
  while (cell.next(table)) {
    if (cell.type(-2) === TYPE.string) see(cell.text(-2)!);
    cell.pop(1);
  }
}
