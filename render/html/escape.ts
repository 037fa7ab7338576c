// Escaping of text for HTML: the only way in which a document's text gets into a page.

import { visible } from "../../base/visible.ts";

const SIGNS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes a text for an element or a quoted attribute. Characters that hide or reorder text become visible escapes. */
export function escapeHtml(text: string): string {
  return visible(text, { lines: true }).replace(/[&<>"']/g, (sign) => SIGNS[sign]!);
}

/** Returns the address of an allowed link; null for one that could run code or lead to this machine. */
export function linkAddress(address: string): string | null {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    // A relative path leads nowhere from a standalone page, so it gets no link.
    return null;
  }
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
}
