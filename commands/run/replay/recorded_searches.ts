// Reads the visible lines of a provider's tools back into blocks of a replay script. Pure.

import type {
  ReplyBlock,
  ScriptedFetch,
  ScriptedPage,
  ScriptedSearch,
} from "../../../providers/replay/script.ts";

/** A use of a provider's tool, as far as a reply contains it. */
interface Use {
  readonly id: string;
  readonly tool: "web_search" | "web_fetch";
  readonly asked: string;
  result: Result | null;
  /** True if an earlier reply contains the call. */
  isEarlier: boolean;
}

interface Result {
  readonly pages: ScriptedPage[];
  error?: string;
}

/** Reads the uses of a conversation, reply by reply. */
export class RecordedSearches {
  #count = 0;
  /** Uses without a result, in their order. */
  #waiting: Use[] = [];

  /** Marks the end of a reply: results of its open calls come in a later one. */
  endReply(): void {
    for (const use of this.#waiting) use.isEarlier = true;
  }

  /**
   * Returns the blocks for the lines of one tag.
   *
   * @param provider the provider that the tag names; only Anthropic ends a reply in an open call
   */
  read(content: string, provider: string): readonly ReplyBlock[] {
    const uses: Use[] = [];
    let result: Result | null = null;
    for (const line of content.split(/\r?\n/)) {
      const [, tool, asked] = CALL.exec(line) ?? [];
      if (tool !== undefined && asked !== undefined) {
        result = null;
        const use = this.#call(tool, asked);
        uses.push(use);
        this.#waiting.push(use);
        continue;
      }
      const page = pageOf(line);
      const [, error] = /^Error: (.*)$/.exec(line) ?? [];
      if (page === null && error === undefined && line !== "No results") continue;
      // The lines of each result count from 1.
      if (result === null || error !== undefined || /^1\. /.test(line)) result = this.#answer(uses);
      if (page !== null) result?.pages.push(page);
      else if (error !== undefined && result !== null) result.error = error;
    }
    if (provider !== "anthropic") { for (const use of uses) this.#finish(use); }
    return uses.map(blockOf);
  }

  #call(tool: string, asked: string): Use {
    const isSearch = tool === "web_search";
    return {
      id: `srvtoolu_${++this.#count}`,
      tool: isSearch ? "web_search" : "web_fetch",
      asked: tool === "find_in_page" ? asked.slice(asked.lastIndexOf(DASH) + DASH.length) : asked,
      result: null,
      isEarlier: false,
    };
  }

  /** Begins the result of the first use without one. Results come in the order of their calls. */
  #answer(uses: Use[]): Result | null {
    const [use] = this.#waiting;
    if (use === undefined) return null;
    if (use.isEarlier) uses.push(use);
    return this.#finish(use);
  }

  #finish(use: Use): Result {
    this.#waiting = this.#waiting.filter((each) => each !== use);
    return use.result ??= { pages: [] };
  }
}

/** Returns the pages that a tag of citations names. */
export function citedPages(content: string): readonly ScriptedPage[] {
  return content.split(/\r?\n/).flatMap((line) => pageOf(line) ?? []);
}

const CALL = /^(web_search|web_fetch|open_page|find_in_page): (.*)$/;

/** Separates a title from its address. */
const DASH = " — ";

/** Reads a line such as `1. Deno 2.9 — https://deno.com/blog/v2.9`; null for any other line. */
function pageOf(line: string): ScriptedPage | null {
  const [, words] = /^\d+\. (.*)$/.exec(line) ?? [];
  if (words === undefined) return null;
  const at = words.lastIndexOf(DASH);
  if (at >= 0) return { url: words.slice(at + DASH.length), title: words.slice(0, at) };
  return /^\w+:\/\//.test(words) ? { url: words, title: "" } : { url: "", title: words };
}

function blockOf({ id, tool, asked, result, isEarlier }: Use): ReplyBlock {
  const error = result?.error === undefined ? {} : { error: result.error };
  if (tool === "web_search") {
    const search: ScriptedSearch = {
      id,
      ...(isEarlier ? {} : { query: asked }),
      ...(result === null || result.error !== undefined ? {} : { results: result.pages }),
      ...error,
    };
    return { web_search: search };
  }
  const page = result?.pages[0] ?? { url: asked, title: "" };
  const fetch: ScriptedFetch = {
    id,
    ...(isEarlier ? {} : { url: asked }),
    ...(result === null || result.error !== undefined ? {} : { page }),
    ...error,
  };
  return { web_fetch: fetch };
}
