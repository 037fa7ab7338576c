// The functions of this program that the Lua side of the library calls by name: texts, paths, the budget.

import type { Cell, HostFunction } from "../vm/cell.ts";
import { type LuaFolders, makeAbsolute, modify, normalize, simplify } from "./paths.ts";
import { find, formatWith, gmatchStep, gsub, match } from "./strings.ts";

/** What the cell may access in addition to included files. */
export interface CellWorld extends LuaFolders {
  /** True if a file can be read (`vim.fn.filereadable`). */
  isReadable(path: string): boolean;
}

type HostFunctions = Readonly<Record<string, HostFunction>>;

/** Returns functions of Lua's `string`; `rawFormat` is the reference to Lua's own `format`. */
export function textFunctions(rawFormat: number): HostFunctions {
  return { format: formatWith(rawFormat), find, match, gmatch_step: gmatchStep, gsub };
}

/** Functions that protect a cell: its budget, errors that must not be caught, and the methods of strings. */
export const guardFunctions: HostFunctions = {
  exceeded: (cell) => {
    cell.pushBoolean(cell.isOver());
    return 1;
  },
  rethrow: (cell) => {
    cell.pushNil();
    return cell.raiseTop();
  },
  spend: (cell) => {
    cell.spend(Math.max(0, cell.number(1)));
    return 0;
  },
  string_methods: (cell) => {
    // All strings share one metatable, and only the listed functions may be reached through it.
    cell.pushText("");
    cell.pushMetatable(-1);
    cell.pushCopy(1);
    cell.setMember(-2, "__index");
    return 0;
  },
};

/** Returns functions of `vim.fn` and `vim.fs` about paths. */
export function pathFunctions(world: CellWorld): HostFunctions {
  const path = (change: (path: string, cell: Cell) => string): HostFunction => (cell) => {
    const given = cell.text(1) ?? cell.raise("bad argument #1 (a path expected)");
    cell.pushText(change(given, cell));
    return 1;
  };
  return {
    fnamemodify: path((given, cell) =>
      modify(given, cell.text(2) ?? "", world) ??
        cell.raise(`the modifiers "${cell.text(2)}" are not supported`)
    ),
    simplify: path(simplify),
    normalize: path((given) => normalize(given, world)),
    abspath: path((given) => makeAbsolute(given, world)),
    getcwd: (cell) => {
      cell.pushText(world.cwd);
      return 1;
    },
    filereadable: (cell) => {
      const given = cell.text(1);
      cell.pushNumber(given !== null && world.isReadable(makeAbsolute(given, world)) ? 1 : 0);
      return 1;
    },
  };
}
