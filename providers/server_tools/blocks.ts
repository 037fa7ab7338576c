// The blocks that a provider's own tools leave in a reply: which are known, and their rendering for readers.

import { isObject, textOrEmpty } from "../../base/is_object.ts";
import { itemTexts } from "../../base/text/json_text.ts";
import type { ServerToolName } from "../types.ts";

/** One block of a provider's tool. */
export interface ServerBlock {
  /** The block as JSON text. */
  readonly json: string;
  /** True for a call, false for a result; null for a block that is both. */
  readonly isCall: boolean | null;
  /** Id that the call and its result share. */
  readonly id: string;
  readonly tool: ServerToolName;
  /** Lines of the rendering. */
  readonly lines: readonly string[];
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Maximum number of characters of one line of a rendering. */
const LONGEST_LINE = 300;

/** Writes blocks as one JSON text, in the provider's own spelling. */
export function joinBlocks(blocks: readonly string[]): string {
  return `[${blocks.join(",")}]`;
}

/** Reads blocks from JSON text; null if one of them is not a block of a tool that settings can offer. */
export function readBlocks(json: string): readonly ServerBlock[] | null {
  let values: unknown;
  try {
    values = JSON.parse(json);
  } catch {
    return null;
  }
  if (!Array.isArray(values) || values.length === 0) return null;
  const texts = itemTexts(json);
  const blocks = values.map((value: unknown, at) => isObject(value) ? readBlock(value, texts[at]!) : null);
  return blocks.every((block) => block !== null) ? blocks : null;
}

/** Returns the rendering of blocks. No line of it can be structure in a document. */
export function renderBlocks(blocks: readonly ServerBlock[]): string {
  return blocks.flatMap(({ lines }) => lines).join("\n");
}

/** Returns the rendering of sources that a provider names for a text, each once; empty if there is none. */
export function renderSources(
  sources: readonly { readonly url: string; readonly title: string }[],
): string {
  const known = new Map(sources.map((source) => [source.url || source.title, source]));
  known.delete("");
  return known.size === 0 ? "" : ["Sources:", ...[...known.values()].map(sourceLine)].join("\n");
}

/** Reads one block; null if it is not one of a known tool. `json` is its text. */
export function readBlock(block: JsonObject, json: string): ServerBlock | null {
  switch (block.type) {
    case "server_tool_use":
      return anthropicCall(block, json);
    case "web_search_tool_result":
      return result(json, textOrEmpty(block.tool_use_id), "web_search", searchLines(block.content));
    case "web_fetch_tool_result":
      return result(json, textOrEmpty(block.tool_use_id), "web_fetch", fetchLines(block.content));
    case "web_search_call":
      return openaiCall(block, json);
    default:
      return googlePart(block, json);
  }
}

function result(
  json: string,
  id: string,
  tool: ServerToolName,
  lines: readonly string[],
): ServerBlock | null {
  return id === "" ? null : { json, isCall: false, id, tool, lines };
}

function anthropicCall(block: JsonObject, json: string): ServerBlock | null {
  const { id, name, input } = block;
  if (typeof id !== "string" || id === "" || (name !== "web_search" && name !== "web_fetch")) return null;
  const asked = isObject(input) ? textOrEmpty(input.query) || textOrEmpty(input.url) : "";
  return { json, isCall: true, id, tool: name, lines: [oneLine(`${name}: ${asked}`)] };
}

function searchLines(content: unknown): readonly string[] {
  if (!Array.isArray(content)) return [errorLine(content)];
  const pages = content.filter(isObject).map((page) => ({
    url: textOrEmpty(page.url),
    title: textOrEmpty(page.title),
  }));
  return pages.length === 0 ? ["No results"] : pages.map(sourceLine);
}

function fetchLines(content: unknown): readonly string[] {
  if (!isObject(content) || content.type !== "web_fetch_result") return [errorLine(content)];
  const title = isObject(content.content) ? textOrEmpty(content.content.title) : "";
  return [sourceLine({ url: textOrEmpty(content.url), title }, 0)];
}

function errorLine(content: unknown): string {
  return oneLine(`Error: ${isObject(content) ? textOrEmpty(content.error_code) || "unknown" : "unknown"}`);
}

function openaiCall(block: JsonObject, json: string): ServerBlock | null {
  const { id, action, status } = block;
  if (typeof id !== "string" || id === "") return null;
  const did = isObject(action) ? action : {};
  const failed = status === "failed" ? ["Error: failed"] : [];
  return { json, isCall: null, id, tool: "web_search", lines: [...actionLines(did), ...failed] };
}

function actionLines(action: JsonObject): readonly string[] {
  switch (action.type) {
    case "open_page":
      return [oneLine(`open_page: ${textOrEmpty(action.url)}`)];
    case "find_in_page":
      return [oneLine(`find_in_page: ${textOrEmpty(action.pattern)} — ${textOrEmpty(action.url)}`)];
    default: {
      const queries = Array.isArray(action.queries) ? action.queries.map(textOrEmpty) : [];
      const asked = queries.length > 0 ? queries.join(" · ") : textOrEmpty(action.query);
      const sources = Array.isArray(action.sources) ? action.sources.filter(isObject) : [];
      return [
        oneLine(`web_search: ${asked}`),
        ...sources.map((source, at) => sourceLine({ url: textOrEmpty(source.url), title: "" }, at)),
      ];
    }
  }
}

/** The tools of Gemini, by the name of their type. */
const GOOGLE_TOOLS: ReadonlyMap<unknown, ServerToolName> = new Map([
  ["GOOGLE_SEARCH_WEB", "web_search"],
  ["URL_CONTEXT", "web_fetch"],
]);

/** Reads a part of Gemini: `{toolCall}` or `{toolResponse}`. */
function googlePart(part: JsonObject, json: string): ServerBlock | null {
  const isCall = isObject(part.toolCall);
  const inner = isCall ? part.toolCall : part.toolResponse;
  if (!isObject(inner)) return null;
  const tool = GOOGLE_TOOLS.get(inner.toolType);
  const { id } = inner;
  if (tool === undefined || typeof id !== "string" || id === "") return null;
  const lines = isCall ? [oneLine(`${tool}: ${argumentsOf(inner.args)}`)] : responseLines(inner.response);
  return { json, isCall, id, tool, lines };
}

/** Returns the texts in the arguments of a call, such as its queries or addresses. */
function argumentsOf(args: unknown): string {
  const texts = isObject(args) ? Object.values(args).flat().filter((text) => typeof text === "string") : [];
  return texts.join(" · ");
}

function responseLines(response: unknown): readonly string[] {
  return isObject(response) && Object.keys(response).length > 0
    ? [oneLine(`Result: ${JSON.stringify(response)}`)]
    : [];
}

function sourceLine({ url, title }: { readonly url: string; readonly title: string }, at: number): string {
  return oneLine(`${at + 1}. ${[title, url].filter((words) => words !== "").join(" — ")}`);
}

/** Returns a text on one line, without control characters and with a maximum length. */
function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex
  const plain = text.toWellFormed().replace(/[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ").trim();
  return plain.length <= LONGEST_LINE ? plain : `${plain.slice(0, LONGEST_LINE - 1).toWellFormed()}…`;
}
