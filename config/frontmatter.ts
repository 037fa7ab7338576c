// The first block of a document: its language, its variables, and the layer of settings it is.

import type { DocumentSettings, FrontmatterOptions } from "./document/first_block.ts";

/**
 * Evaluates the block and resolves all layers. Nothing is thrown: what is wrong are diagnostics, and an error among
 * them means that the cycle must not go on, because a restriction may not have been applied.
 */
export async function documentSettings(options: FrontmatterOptions): Promise<DocumentSettings> {
  const { frontmatter, preamble = null, loaded } = options;
  const none = { settings: loaded.settings, variables: {}, diagnostics: [], logs: loaded.logs };
  if (frontmatter === null && preamble === null) return none;
  const { evaluate, misplaced } = await import("./document/first_block.ts");
  const stated = frontmatter === null ? none : await evaluate({ ...options, frontmatter });
  if (preamble === null) return stated;
  return { ...stated, diagnostics: [...stated.diagnostics, ...misplaced(preamble, frontmatter !== null)] };
}
