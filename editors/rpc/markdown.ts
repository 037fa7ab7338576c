// Escapes untrusted text for Markdown that an editor renders. An image in it would be fetched as soon as it is shown,
// and a heading or a fence could imitate words of this program.

import { visible } from "../../base/visible.ts";

/** The text as inline code. */
export function codeSpan(text: string): string {
  const shown = visible(text);
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  const pad = /^`|`$|^ .* $/.test(shown) ? " " : "";
  return `${ticks}${pad}${shown}${pad}${ticks}`;
}

/**
 * The text as words of a paragraph. A character that marks nothing at its place gets no backslash, because some
 * editors show it.
 */
export function plainWords(text: string): string {
  return visible(text)
    .replace(/[\\`*[\]<&~|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&")
    .replace(/^\s*[#>+=-]/, (mark) => `${mark.slice(0, -1)}\\${mark.at(-1)}`);
}
