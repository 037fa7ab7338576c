// The Lua state of one document for one run: the block runs once, its functions stay callable, and templates continue
// in the same cell. The engine loads on first use.

import type { ChunkOutcome, LayerDraft } from "../types.ts";
import { DEFAULT_LIMITS, type LuaLimits } from "../../lua/vm/budget.ts";
import type { HostFunction } from "../../lua/vm/cell.ts";
import type { Engine } from "../../lua/engine.ts";
import type { CellWorld } from "../../lua/library/host.ts";

/** Creates the `include` function of a file. Its paths are relative to the file's folder. */
export type IncludeMaker = (engine: Engine, filename: string | null) => HostFunction;

export interface LuaSessionOptions {
  /** Absolute path of the document; null if unsaved. */
  readonly filename: string | null;
  readonly world: CellWorld;
  /** Limits of the session. @default `DEFAULT_LIMITS` */
  readonly limits?: LuaLimits;
  /** Receives each line that `print` writes in the block, without line end. */
  readonly print: (line: string) => void;
  readonly loadInclude: () => Promise<IncludeMaker>;
}

export class LuaSession {
  readonly options: LuaSessionOptions;
  #engine: Promise<Engine> | null = null;
  #variables: number | null = null;

  constructor(options: LuaSessionOptions) {
    this.options = options;
  }

  /** Registry slot of the table with the block's variables; null if no block exported any. */
  get variables(): number | null {
    return this.#variables;
  }

  /** Returns the document's cell, created on first use. A cell broken by a chunk is replaced by an empty one. */
  async engine(): Promise<Engine> {
    this.#engine ??= this.#start();
    const engine = await this.#engine;
    if (!engine.cell.budget.broken) return engine;
    this.#variables = null;
    this.#engine = this.#start();
    return await this.#engine;
  }

  /** Runs the document's Lua block against its draft; bound, so that it can be passed as a `RunChunk`. */
  readonly run = async (code: string, draft: LayerDraft): Promise<ChunkOutcome> => {
    const [{ runBlock }, engine, makeInclude] = await Promise.all([
      import("./lua_block.ts"),
      this.engine(),
      this.options.loadInclude(),
    ]);
    const { filename, print } = this.options;
    const { outcome, variables } = runBlock(engine, code, draft, {
      filename,
      print,
      include: makeInclude(engine, filename),
    });
    this.#variables = variables;
    return outcome;
  };

  async #start(): Promise<Engine> {
    const { startEngine } = await import("../../lua/engine.ts");
    return await startEngine(this.options.world, this.options.limits ?? DEFAULT_LIMITS);
  }
}
