// Conversion of Markdown to HTML: elements from a short list; link addresses are the only attributes from a document.

import { alignmentOf, attributeOf, type MarkdownToken } from "../markdown.ts";
import { escapeHtml, linkAddress } from "./escape.ts";

/** Elements for blocks; headings are one level below those of the page. */
const BLOCKS: Readonly<Record<string, string>> = {
  paragraph: "p",
  blockquote: "blockquote",
  bullet_list: "ul",
  list_item: "li",
  thead: "thead",
  tbody: "tbody",
  tr: "tr",
};

const INLINE: Readonly<Record<string, string>> = { strong: "strong", em: "em", s: "s" };

/** Converts parsed Markdown to HTML. `clean` removes from each text what must not appear in the page. */
export function markdownHtml(tokens: readonly MarkdownToken[], clean: (text: string) => string): string {
  const text = (from: string) => escapeHtml(clean(from));
  return tokens.map((token) => blockHtml(token, text)).join("");
}

type Text = (from: string) => string;

function blockHtml(token: MarkdownToken, text: Text): string {
  const closes = token.nesting < 0;
  const name = token.type.replace(/_(?:open|close)$/, "");
  const element = BLOCKS[name];
  if (element !== undefined) return token.hidden ? "" : `<${closes ? "/" : ""}${element}>`;
  switch (name) {
    case "heading": {
      const level = Math.min(6, Number(token.tag.slice(1)) + 2);
      return `<${closes ? "/" : ""}h${level}>`;
    }
    case "ordered_list": {
      const start = Number(token.attrGet("start") ?? 1);
      return closes ? "</ol>" : start === 1 ? "<ol>" : `<ol start="${Math.trunc(start)}">`;
    }
    case "table":
      return closes ? "</table></div>" : '<div class="table"><table>';
    case "th":
    case "td":
      return closes ? `</${name}>` : `<${name} class="${alignmentOf(token)}">`;
    case "fence":
    case "code_block":
      return `<pre><code>${text(token.content)}</code></pre>`;
    case "hr":
      return "<hr>";
    case "inline":
      return inlineHtml(token.children ?? [], text);
    default:
      return text(token.content);
  }
}

function inlineHtml(tokens: readonly MarkdownToken[], text: Text): string {
  /** For each open link, whether it has an address. */
  const links: boolean[] = [];
  return tokens.map((token) => {
    const name = token.type.replace(/_(?:open|close)$/, "");
    const element = INLINE[name];
    if (element !== undefined) return `<${token.nesting < 0 ? "/" : ""}${element}>`;
    switch (token.type) {
      case "code_inline":
        return `<code>${text(token.content)}</code>`;
      case "softbreak":
        return "\n";
      case "hardbreak":
        return "<br>";
      case "image":
        // An external image would tell its server who reads the page.
        return `<span class="image">${text(`[image: ${token.content}]`)}</span> ${
          addressHtml(attributeOf(token, "src"), text)
        }`;
      case "link_open": {
        const html = linkStart(attributeOf(token, "href"), text);
        links.push(html !== null);
        return html ?? "";
      }
      case "link_close":
        return links.pop() === true ? "</a>" : "";
      default:
        return text(token.content);
    }
  }).join("");
}

function linkStart(address: string, text: Text): string | null {
  const known = linkAddress(address);
  return known === null ? null : `<a href="${text(known)}" rel="noopener noreferrer nofollow">`;
}

function addressHtml(address: string, text: Text): string {
  const start = linkStart(address, text);
  const shown = text(address);
  return start === null ? `<code>${shown}</code>` : `${start}${shown}</a>`;
}
