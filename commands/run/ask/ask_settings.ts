// What `flemma ask` is asked, and the settings that it writes into the frontmatter of a new document.

import type { Settings } from "../../../config/settings.generated.ts";

/** What a person asks: words, and text from standard input. */
export interface AskedQuestion {
  readonly words: string;
  readonly piped: string;
}

/** Returns the names of `--tools`; null without the option, empty for "none". */
export function toolsOption(given: string | undefined): readonly string[] | null {
  if (given === undefined) return null;
  return given === "none" ? [] : given.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

/**
 * Returns the settings for the frontmatter of a new document. `folder` is the folder in which the document's tools
 * work, because the document is stored in another one. If it is null, the tools work in the document's own folder.
 */
export function askSettings(
  { templating }: Settings,
  { folder, tools }: { readonly folder: string | null; readonly tools: readonly string[] | null },
): Readonly<Record<string, unknown>> | undefined {
  const block = {
    ...(folder === null ? {} : { cwd: folder }),
    // Piped text is wrapped in template tags that keep it literal. These tags work only if templating is enabled.
    ...(templating.enabled ? {} : { templating: { enabled: true } }),
    ...(tools === null ? {} : { tools: { $set: tools } }),
  };
  return Object.keys(block).length === 0 ? undefined : block;
}
