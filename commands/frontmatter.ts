// Frontmatter sets policy. As long as it is not evaluated, a document that has some must not be acted upon.

import type { Chat, Diagnostic } from "../parser/types.ts";

/** What keeps a document with frontmatter from being run: nobody knows what it would allow or forbid. */
export function frontmatterBlockers(chat: Chat): readonly Diagnostic[] {
  const block = chat.frontmatter;
  if (block === null) return [];
  return [{
    code: "frontmatter_unsupported",
    type: "frontmatter",
    severity: "error",
    message: `Frontmatter (here ${block.language}) is not evaluated by this version, so nothing was done: ` +
      "move its settings to the configuration file or the command line.",
    start: block.start,
    end: block.end,
  }];
}
