// The Lua side of one document in one run: the block is run once, its functions stay callable, and templates go on in
// the same cell. The engine is loaded when it is first needed.

import type { ChunkOutcome, LayerDraft } from "../types.ts";
import { DEFAULT_LIMITS, type Limits } from "../../lua/vm/budget.ts";
import type { HostFunction } from "../../lua/vm/cell.ts";
import type { Engine } from "../../lua/engine.ts";
import type { CellWorld } from "../../lua/library/host.ts";

/** Makes the `include` function of a file: paths are relative to its folder. */
export type IncludeMaker = (engine: Engine, filename: string | null) => HostFunction;

export interface LuaSessionOptions {
  /** Absolute path of the document; null when it is unsaved. */
  readonly filename: string | null;
  readonly world: CellWorld;
  /** Default: `DEFAULT_LIMITS`. */
  readonly limits?: Limits;
  /** Takes what `print` in the block writes: one line without its line end. */
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

  /** Where the table with the block's variables is kept in the cell; null when no block exported any. */
  get variables(): number | null {
    return this.#variables;
  }

  /** The one cell of this document, started at the first call. A cell that a chunk broke is replaced by an empty one. */
  async engine(): Promise<Engine> {
    this.#engine ??= this.#start();
    const engine = await this.#engine;
    if (!engine.cell.budget.broken) return engine;
    this.#variables = null;
    this.#engine = this.#start();
    return await this.#engine;
  }

  /** Runs the document's Lua block against the draft of its layer; a `RunChunk` that can be handed on as it is. */
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
