// Text as HTML that is that text and nothing else: the only way in which a document's text comes into a page.

import { visible } from "../../base/visible.ts";

const SIGNS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text for the inside of an element or of a quoted attribute. What would hide or reorder text stands there as an escape. */
export function escaped(text: string): string {
  return visible(text, { lines: true }).replace(/[&<>"']/g, (sign) => SIGNS[sign]!);
}

/** The address of a link that a page may hold; null for one that would run something, or lead to this machine. */
export function linkAddress(address: string): string | null {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    // A path: there is nothing that it could lead to from a page by itself.
    return null;
  }
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
}
