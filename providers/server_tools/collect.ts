// Collects the blocks and citations of a streamed reply for its reader.

import type { Effect } from "../types.ts";
import { joinBlocks, readBlock, renderBlocks, renderSources, type ServerBlock } from "./blocks.ts";
import { type CitedRange, renderCitations, writeCitations } from "./citations.ts";

/** Collects blocks until each call has its result, so that a tag contains both. */
export class BlockCollector {
  readonly #provider: string;
  readonly #open = new Set<string>();
  #blocks: ServerBlock[] = [];

  /** @param provider the provider, as tags name it */
  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Adds a block; `json` is its text. Null if it is not one of a known tool. */
  add(block: Readonly<Record<string, unknown>>, json: string): Effect[] | null {
    const read = readBlock(block, json);
    if (read === null) return null;
    this.#blocks.push(read);
    if (read.isCall === true) this.#open.add(read.id);
    else this.#open.delete(read.id);
    return this.#open.size > 0 ? [] : this.flush();
  }

  /** Returns what was collected, which may contain calls without a result. */
  flush(): Effect[] {
    const blocks = this.#blocks;
    this.#blocks = [];
    this.#open.clear();
    if (blocks.length === 0) return [];
    return [{
      kind: "server_tool",
      what: "blocks",
      provider: this.#provider,
      json: joinBlocks(blocks.map(({ json }) => json)),
      rendering: renderBlocks(blocks),
    }];
  }
}

/** Number of characters of a text up to which its citations are written. */
const MOST_TEXT = 1 << 20;

/** Follows the texts of a reply, to say which ranges of them are cited. */
export class CitationCollector {
  readonly #provider: string;
  /** The text since the last block; null if it is too long. */
  #text: string | null = "";
  /** Position at which the current block of text begins. */
  #from = 0;
  readonly #ranges: CitedRange[] = [];
  #citations: string[] = [];

  constructor(provider: string) {
    this.#provider = provider;
  }

  add(text: string): void {
    if (this.#text !== null) this.#text = this.#text.length > MOST_TEXT ? null : this.#text + text;
  }

  /** Adds a citation of the current block of text, as JSON text. */
  cite(citation: string): void {
    this.#citations.push(citation);
  }

  /** Ends a block of text. */
  endBlock(): void {
    const to = this.#text?.length ?? 0;
    if (this.#citations.length > 0) this.#ranges.push({ from: this.#from, to, citations: this.#citations });
    this.#citations = [];
    this.#from = to;
  }

  /** Ends the text; returns its citations, if there are any. */
  flush(): Effect[] {
    this.endBlock();
    const ranges = this.#ranges.splice(0);
    const text = this.#text;
    this.#text = "";
    this.#from = 0;
    if (ranges.length === 0) return [];
    if (text === null) {
      return [{ kind: "notice", message: "The text is too long to keep its citations.", isAside: true }];
    }
    const json = writeCitations(text, ranges);
    const rendering = renderCitations(json);
    return rendering === ""
      ? []
      : [{ kind: "server_tool", what: "citations", provider: this.#provider, json, rendering }];
  }
}

/** Returns the effect for sources of a text that do not go back to the provider. */
export function sourcesEffect(
  provider: string,
  sources: readonly { readonly url: string; readonly title: string }[],
): Effect[] {
  const rendering = renderSources(sources);
  return rendering === "" ? [] : [{ kind: "server_tool", what: "citations", provider, json: "", rendering }];
}
