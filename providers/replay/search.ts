// Searches of a script as the Messages API reports them, with content that only the server can read.

import { quickHash } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import type { JsonObject } from "./dialect.ts";
import type { ReplyBlock, ScriptedPage, ScriptedServerTool } from "./script.ts";

/** A use of a provider's tool, whatever the dialect. */
export interface ScriptedUse {
  readonly tool: "web_search" | "web_fetch";
  readonly id: string;
  /** Query or address; undefined for the result of an earlier use. */
  readonly asked: string | undefined;
  /** Pages that were found or fetched; undefined if the result is still to come, or is an error. */
  readonly pages: readonly ScriptedPage[] | undefined;
  readonly error: string | undefined;
}

/** True for a block of a tool that the provider runs. */
export function isScriptedUse(block: ReplyBlock): block is ScriptedServerTool {
  return "web_search" in block || "web_fetch" in block;
}

/** Returns the use in a block; `place` is its place in the reply. */
export function useOf(block: ScriptedServerTool, place: number): ScriptedUse {
  const given = "web_search" in block
    ? { tool: "web_search" as const, asked: block.web_search.query, pages: block.web_search.results }
    : {
      tool: "web_fetch" as const,
      asked: block.web_fetch.url,
      pages: block.web_fetch.page === undefined ? undefined : [block.web_fetch.page],
    };
  const { id, error } = "web_search" in block ? block.web_search : block.web_fetch;
  return { ...given, error, id: id ?? `srvtoolu_${quickHash(`${place} ${given.asked ?? ""}`)}` };
}

/** Number of searches that a reply begins. */
export function searchesIn(blocks: readonly ReplyBlock[]): number {
  return blocks.filter((block) => "web_search" in block && block.web_search.query !== undefined).length;
}

/** Returns the blocks of a use in the Messages API: the call, the result, or both. */
export function serverToolBlocks(block: ScriptedServerTool, place: number): readonly JsonObject[] {
  const { tool, id, asked, pages, error } = useOf(block, place);
  const caller = { type: "direct" };
  const input = tool === "web_search" ? { query: asked } : { url: asked };
  const call = { type: "server_tool_use", id, name: tool, input, caller };
  const content = error !== undefined
    ? { type: `${tool}_tool_result_error`, error_code: error }
    : tool === "web_search"
    ? (pages ?? []).map(foundPage)
    : fetchedPage(pages?.[0] ?? { url: "", title: "" });
  const result = { type: `${tool}_tool_result`, tool_use_id: id, content, caller };
  return [
    ...(asked === undefined ? [] : [call]),
    ...(pages === undefined && error === undefined ? [] : [result]),
  ];
}

function foundPage(page: ScriptedPage): JsonObject {
  const { url, title } = page;
  return { type: "web_search_result", url, title, encrypted_content: encrypt(page), page_age: null };
}

function fetchedPage({ url, title, content = "" }: ScriptedPage): JsonObject {
  const source = { type: "text", media_type: "text/plain", data: content };
  return {
    type: "web_fetch_result",
    url,
    content: { type: "document", source, title, citations: null },
    retrieved_at: null,
  };
}

/** Returns the citation of a page. */
export function citationOf(page: ScriptedPage): JsonObject {
  const { url, title } = page;
  return {
    type: "web_search_result_location",
    url,
    title,
    encrypted_index: encrypt(page),
    cited_text: `From ${title}`,
  };
}

/** Writes content that only the server can read, bound to its page. */
export function encrypt({ url, title, content = "" }: ScriptedPage): string {
  return btoa(
    JSON.stringify({
      replay: "page",
      page: quickHash(`${url} ${title}`),
      content: encodeURIComponent(content),
    }),
  );
}

/** True if such content is unchanged and belongs to the page. */
export function isEncrypted(
  text: unknown,
  { url, title }: { readonly url: unknown; readonly title: unknown },
): boolean {
  try {
    const value: unknown = JSON.parse(atob(String(text)));
    return isObject(value) && value.replay === "page" && value.page === quickHash(`${url} ${title}`);
  } catch {
    // It is not Base64 of JSON.
    return false;
  }
}
