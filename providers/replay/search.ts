// Searches of a script as the Messages API reports them, with content that only the server can read.

import { quickHash } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import type { JsonObject } from "./dialect.ts";
import type { ScriptedPage, ScriptedSearch } from "./script.ts";

/** Returns the id of a search; `place` is its place in the reply. */
export function searchId({ id, query = "" }: ScriptedSearch, place: number): string {
  return id ?? `srvtoolu_${quickHash(`${place} ${query}`)}`;
}

/** Returns the blocks of a search: the call, the result, or both. */
export function searchBlocks(search: ScriptedSearch, place: number): readonly JsonObject[] {
  const { query, results, error } = search;
  const id = searchId(search, place);
  const caller = { type: "direct" };
  const call = { type: "server_tool_use", id, name: "web_search", input: { query }, caller };
  const content = error === undefined
    ? (results ?? []).map((page) => ({
      type: "web_search_result",
      url: page.url,
      title: page.title,
      encrypted_content: encrypt(page),
      page_age: null,
    }))
    : { type: "web_search_tool_result_error", error_code: error };
  const result = { type: "web_search_tool_result", tool_use_id: id, content, caller };
  return [
    ...(query === undefined ? [] : [call]),
    ...(results === undefined && error === undefined ? [] : [result]),
  ];
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
