// The first block of a document: its language, its variables, and the layer of settings it is (frontmatter-config 3, 4).

import type { Diagnostic, Frontmatter } from "../parser/types.ts";
import type { LayerLog } from "./layers/log.ts";
import type { Loaded } from "./load.ts";
import type { RunChunk } from "./types.ts";
import type { Settings } from "./settings.ts";

/** A diagnostic of the block, with what an editor can offer. */
export interface FrontmatterDiagnostic extends Diagnostic {
  readonly key?: string;
  readonly suggestion?: string;
  /** The line at fault, 1-based, where it is known; `start` and `end` are the whole block. */
  readonly line?: number;
}

/** The settings of one document, and the variables its templates see. */
export interface DocumentSettings {
  readonly settings: Settings;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly diagnostics: readonly FrontmatterDiagnostic[];
  /** All layers with the document's among them. */
  readonly logs: readonly LayerLog[];
}

export interface FrontmatterOptions {
  readonly loaded: Loaded;
  readonly frontmatter: Frontmatter | null;
  /** Runs a Lua block. Without it such a block is an error: nobody knows what it would allow or forbid. */
  readonly runLua?: RunChunk;
  /** Names of the template environment that a variable may not replace. */
  readonly reserved?: ReadonlySet<string>;
}

/**
 * Evaluates the block and resolves all layers. Nothing is thrown: what is wrong are diagnostics, and an error among
 * them means that the cycle must not go on, because a restriction may not have been applied (3.7).
 */
export async function documentSettings(options: FrontmatterOptions): Promise<DocumentSettings> {
  const { frontmatter, loaded } = options;
  if (frontmatter === null) {
    return { settings: loaded.settings, variables: {}, diagnostics: [], logs: loaded.logs };
  }
  const { evaluate } = await import("./document/first_block.ts");
  return await evaluate({ ...options, frontmatter });
}
