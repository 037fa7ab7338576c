// Evaluation of a document's frontmatter: its language, its variables, and its settings layer.

import type { DocumentSettings, FrontmatterOptions } from "./document/first_block.ts";

/**
 * Evaluates the frontmatter and resolves all layers. Never throws: problems are diagnostics. After one of severity
 * error the cycle must not continue, because a restriction may not have been applied.
 */
export async function documentSettings(options: FrontmatterOptions): Promise<DocumentSettings> {
  const { frontmatter, preamble = null, loaded } = options;
  const none = { settings: loaded.settings, variables: {}, diagnostics: [], logs: loaded.logs };
  if (frontmatter === null && preamble === null) return none;
  const { evaluateFrontmatter, reportMisplaced } = await import("./document/first_block.ts");
  const evaluated = frontmatter === null ? none : await evaluateFrontmatter({ ...options, frontmatter });
  if (preamble === null) return evaluated;
  return {
    ...evaluated,
    diagnostics: [...evaluated.diagnostics, ...reportMisplaced(preamble, frontmatter !== null)],
  };
}
