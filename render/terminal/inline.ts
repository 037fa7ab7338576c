// Rendering of Markdown emphasis, code and links as terminal spans.

import { attributeOf, type MarkdownToken } from "../markdown.ts";
import type { Color, TerminalFormat } from "./lines.ts";
import { span, type StyledSpan } from "./spans.ts";

const STYLES: Readonly<Record<string, Color>> = {
  strong_open: "bold",
  em_open: "italic",
  s_open: "struck",
};

/** Characters that mark a style without colors. */
const SIGNS: Readonly<Record<string, string>> = { strong: "**", em: "*", s: "~~" };

export function inlineSpans(
  tokens: readonly MarkdownToken[],
  format: TerminalFormat,
  colors: readonly Color[] = [],
): StyledSpan[] {
  const spans: StyledSpan[] = [];
  const styles: Color[] = [...colors];
  let link: { readonly address: string; readonly from: number } | null = null;
  for (const token of tokens) {
    const style = STYLES[token.type];
    if (style !== undefined) styles.push(style);
    if (/^(?:strong|em|s)_/.test(token.type)) {
      if (!format.colors) spans.push(span(SIGNS[token.type.split("_")[0]!]!));
      if (token.nesting < 0) styles.pop();
      continue;
    }
    switch (token.type) {
      case "code_inline":
        spans.push(span(format.colors ? token.content : `\`${token.content}\``, ...styles, "cyan"));
        break;
      case "softbreak":
        spans.push(span(" ", ...styles));
        break;
      case "hardbreak":
        spans.push(span("\n"));
        break;
      case "image":
        spans.push(
          span(`[image: ${token.content}]`, ...styles),
          span(` (${attributeOf(token, "src")})`, "dim"),
        );
        break;
      case "link_open":
        link = { address: attributeOf(token, "href"), from: spans.length };
        styles.push("underline");
        break;
      case "link_close": {
        styles.pop();
        const text = spans.slice(link?.from).map((each) => each.text).join("");
        // The address is always shown, because the link text may name another one.
        const address = span(link?.address ?? "").text;
        if (address !== text && address !== `mailto:${text}`) spans.push(span(` (${address})`, "dim"));
        link = null;
        break;
      }
      default:
        spans.push(span(token.content, ...styles));
    }
  }
  return spans;
}
