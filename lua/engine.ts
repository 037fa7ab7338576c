// Starts a cell: the interpreter is unpacked and compiled once per program, the library is built for each cell.
//
// Only code that runs Lua imports this module, dynamically, so that documents without Lua do not pay for it.

import { fromBase64 } from "../base/bytes.ts";
import { DEFAULT_LIMITS, type LuaLimits } from "./vm/budget.ts";
import { Cell } from "./vm/cell.ts";
import type { Interpreter } from "./vm/machine.ts";
import type { CellWorld } from "./library/host.ts";
import { Library } from "./library/library.ts";

/** A started cell with its library. */
export interface Engine {
  readonly cell: Cell;
  readonly library: Library;
}

let compiled: Promise<Interpreter> | null = null;

/** Starts a new cell that shares only the compiled machine code with others. */
export async function startEngine(world: CellWorld, limits: LuaLimits = DEFAULT_LIMITS): Promise<Engine> {
  compiled ??= unpack();
  const cell = await Cell.start(await compiled, limits);
  let library: Library | null = null;
  const raised = cell.evaluate((inner) => {
    library = new Library(inner, world);
    return 0;
  });
  if (library === null) throw new Error(`the Lua library does not load: ${raised?.message}`);
  return { cell, library };
}

/** Unpacks the interpreter, which is 150 KB of data in a separate module, so that a bundle can keep it apart. */
async function unpack(): Promise<Interpreter> {
  const { ABOVE_ASCII, INTERPRETER, INTERPRETER_SIZE } = await import("./interpreter.generated.ts");
  const inflate = new DecompressionStream("deflate-raw");
  const writer = inflate.writable.getWriter();
  const written = writer.write(fromBase64(INTERPRETER)).then(() => writer.close());
  const wasm = new Uint8Array(INTERPRETER_SIZE);
  let length = 0;
  const reader = inflate.readable.getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    wasm.set(chunk.value, length);
    length += chunk.value.length;
  }
  await written;
  return { module: await WebAssembly.compile(wasm), aboveAscii: ABOVE_ASCII };
}
