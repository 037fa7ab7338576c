// Checks of the Messages API for its own tools, shortened.

import { isObject } from "../../../base/is_object.ts";
import { type JsonObject, listOf } from "../dialect.ts";
import { isEncrypted } from "../search.ts";

/** Results of the API's own tools, with the tool. */
const RESULTS: ReadonlyMap<unknown, string> = new Map([
  ["web_search_tool_result", "web_search"],
  ["web_fetch_tool_result", "web_fetch"],
]);

const TOOL = /^(web_search|web_fetch)_20\d{6}$/;

/** True for a tool that the API runs. */
export function isServerTool(tool: unknown): tool is JsonObject {
  return isObject(tool) && TOOL.test(String(tool.type));
}

/** Returns problems of a tool that the API runs. */
export function serverToolProblems(tool: JsonObject, index: number): readonly string[] {
  const { type, name, max_uses: uses, allowed_domains: allowed, blocked_domains: blocked } = tool;
  const at = `tools.${index}`;
  return [
    ...(TOOL.exec(String(type))?.[1] === name
      ? []
      : [`${at}.name: Input should be the name of the tool's type`]),
    ...(uses === undefined || (Number.isInteger(uses) && Number(uses) > 0)
      ? []
      : [`${at}.max_uses: Input should be greater than 0`]),
    ...(allowed !== undefined && blocked !== undefined
      ? [`${at}: only one of allowed_domains and blocked_domains may be specified`]
      : []),
    ...[...listOf(allowed), ...listOf(blocked)].filter((domain) => /:\/\//.test(String(domain)))
      .map((domain) => `${at}: ${domain} must be a domain without a scheme`),
  ];
}

/**
 * Returns problems of the blocks of such tools: they must be paired, unchanged, and of an offered tool. A call may wait
 * for its result only in the last reply, if it also calls a tool of the client or `resumes` is true.
 */
export function serverBlockProblems(
  { tools }: JsonObject,
  messages: readonly JsonObject[],
  resumes: boolean,
): readonly string[] {
  const offered = new Set(listOf(tools).filter(isServerTool).map(({ name }) => name));
  const placed = messages.flatMap(({ role, content }, index) =>
    listOf(content).filter(isObject).map((block, at) => ({
      role,
      block,
      index,
      where: `messages.${index}.content.${at}`,
    }))
  );
  const calls = placed.filter(({ block }) => block.type === "server_tool_use");
  const results = placed.filter(({ block }) => RESULTS.has(block.type));
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const mayWait = (index: number) =>
    index === last &&
    (resumes || placed.some(({ block, index: other }) => other === last && block.type === "tool_use"));
  const ids = calls.map(({ block }) => block.id);
  return [
    ...[...calls, ...results].filter(({ role }) => role !== "assistant").map(({ block, where }) =>
      `${where}: \`${block.type}\` blocks are not permitted in user messages`
    ),
    ...(new Set(ids).size === ids.length ? [] : ["messages: `server_tool_use` ids must be unique"]),
    ...placed.filter(({ block }) =>
      block.type === "tool_result" && /^srvtoolu_/.test(String(block.tool_use_id))
    )
      .map(({ where }) => `${where}: \`tool_result\` for a \`server_tool_use\` is not permitted`),
    ...[...calls, ...results].flatMap(({ block, where }) => {
      const name = RESULTS.get(block.type) ?? block.name;
      return offered.has(name) ? [] : [`${where}: the tool ${name} of this server_tool_use is not in tools`];
    }),
    ...calls.filter(({ block, index }) =>
      !results.some((result) => result.block.tool_use_id === block.id) && !mayWait(index)
    ).map(({ block, where }) =>
      `${where}: \`server_tool_use\` ids were found without a corresponding result block: ${block.id}`
    ),
    ...results.filter(({ block, index }) =>
      !calls.some((call) => call.block.id === block.tool_use_id && call.index <= index)
    ).map(({ block, where }) =>
      `${where}: unexpected \`tool_use_id\` found in \`${block.type}\` blocks: ${block.tool_use_id}`
    ),
    ...results.flatMap(({ block, where }) =>
      listOf(block.content).filter(isObject).map((page) => ({ page, where }))
    )
      .filter(({ page }) => !isEncrypted(page.encrypted_content, { url: page.url, title: page.title }))
      .map(({ where }) => `${where}: Invalid \`encrypted_content\` in search result block`),
    ...placed.flatMap(({ role, block, where }) => citationProblems(role, block, where)),
  ];
}

function citationProblems(role: unknown, { type, citations }: JsonObject, where: string): readonly string[] {
  if (type !== "text" || citations === undefined || citations === null) return [];
  if (role !== "assistant") return [`${where}.citations: citations are not permitted in user messages`];
  return listOf(citations).filter(isObject).filter(({ encrypted_index: index, url, title }) =>
    !isEncrypted(index, { url, title })
  ).map(() => `${where}.citations: Invalid \`encrypted_index\``);
}
