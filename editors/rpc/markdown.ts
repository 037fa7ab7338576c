// Escapes untrusted text for Markdown that an editor renders. An image in the text would be fetched as soon as it is
// shown, and a heading or a fence could imitate words of this program.

import { visible } from "../../base/visible.ts";

/** Returns the text as inline code. */
export function codeSpan(text: string): string {
  const shown = visible(text);
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  const pad = /^`|`$|^ .* $/.test(shown) ? " " : "";
  return `${ticks}${pad}${shown}${pad}${ticks}`;
}

/**
 * Returns the text as words of a paragraph. A character without a special meaning at its position gets no backslash,
 * because some editors show the backslash.
 */
export function plainWords(text: string): string {
  return visible(text)
    .replace(/[\\`*[\]<&~|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&")
    .replace(/^\s*[#>+=-]/, (mark) => `${mark.slice(0, -1)}\\${mark.at(-1)}`);
}
