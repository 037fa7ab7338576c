// Parsing of Markdown to tokens for all renderers; the parser is loaded only when needed.

/** The parts of a `markdown-it` token used here. */
export interface MarkdownToken {
  readonly type: string;
  readonly tag: string;
  /** 1 if the token opens an element, -1 if it closes one, 0 if it is self-contained. */
  readonly nesting: number;
  readonly content: string;
  readonly info: string;
  /** Set for a paragraph of a tight list. */
  readonly hidden: boolean;
  readonly children: readonly MarkdownToken[] | null;
  attrGet(name: string): string | number | null;
}

/** Returns an attribute of a token as text; empty if missing. */
export function attributeOf(token: MarkdownToken, name: string): string {
  return String(token.attrGet(name) ?? "");
}

/** Parses Markdown. HTML in it is text. */
export type ReadMarkdown = (text: string) => readonly MarkdownToken[];

export async function loadMarkdown(): Promise<ReadMarkdown> {
  const { default: MarkdownIt } = await import("npm:markdown-it@15.0.3");
  const reader = new MarkdownIt({ html: false, linkify: true, typographer: false });
  // Only full URLs become links, because `main.rs` and `a.b@c` are words.
  reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  return (text) => reader.parse(text, {});
}

export type Alignment = "left" | "right" | "center";

export function alignmentOf(cell: MarkdownToken): Alignment {
  const word = /text-align:(left|right|center)/.exec(attributeOf(cell, "style"))?.[1];
  return word === "right" || word === "center" ? word : "left";
}
