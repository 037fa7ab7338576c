// Markdown as a list of tokens, for every way of showing it. The package is loaded by whoever shows Markdown, by nothing else.

/** A token of the package `markdown-it`, as far as it is used here. */
export interface Token {
  readonly type: string;
  readonly tag: string;
  /** 1 opens, -1 closes, 0 stands alone. */
  readonly nesting: number;
  readonly content: string;
  readonly info: string;
  /** A paragraph of a tight list. */
  readonly hidden: boolean;
  readonly children: readonly Token[] | null;
  attrGet(name: string): string | number | null;
}

/** An attribute of a token as text; empty where it has none of that name. */
export function attributeOf(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}

/** Reads Markdown. HTML in it is text. */
export type ReadMarkdown = (text: string) => readonly Token[];

/** Loads the reader. */
export async function loadMarkdown(): Promise<ReadMarkdown> {
  const { default: MarkdownIt } = await import("npm:markdown-it@15.0.3");
  const reader = new MarkdownIt({ html: false, linkify: true, typographer: false });
  // Whole addresses are links; `main.rs` and `a.b@c` are words.
  reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  return (text) => reader.parse(text, {});
}

/** Where the cells of a column stand. */
export type Alignment = "left" | "right" | "center";

/** The alignment of a cell. */
export function alignmentOf(cell: Token): Alignment {
  const word = /text-align:(left|right|center)/.exec(attributeOf(cell, "style"))?.[1];
  return word === "right" || word === "center" ? word : "left";
}
