// Words of a model or a stranger inside Markdown that an editor renders: they stay words. A picture in them would be fetched
// by looking at it, and a heading or a fence could say what this program did not.

import { visible } from "../../base/visible.ts";

/** The text as code within a line. */
export function codeSpan(text: string): string {
  const shown = visible(text);
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  const pad = /^`|`$|^ .* $/.test(shown) ? " " : "";
  return `${ticks}${pad}${shown}${pad}${ticks}`;
}

/** The text as words of a paragraph. What marks nothing where it stands gets no backslash: some editors show these. */
export function plainWords(text: string): string {
  return visible(text)
    .replace(/[\\`*[\]<&~|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&")
    .replace(/^\s*[#>+=-]/, (mark) => `${mark.slice(0, -1)}\\${mark.at(-1)}`);
}
