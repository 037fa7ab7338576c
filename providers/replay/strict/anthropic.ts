// Checks of the Messages API that do not depend on the model.
//
// Only rules that a document or an edit can break are included. Messages are the API's own, shortened.

import { isObject } from "../../../base/is_object.ts";
import { typeOfSignature } from "../../../base/media.ts";
import { nestingDepth } from "../../../base/text/json_text.ts";
import { isServerTool, serverBlockProblems, serverToolProblems } from "./anthropic_search.ts";
import { modelRefusals, takesPrefill } from "./anthropic_models.ts";
import { type JsonObject, listOf } from "../dialect.ts";

/** Nesting depth that JSON parsers of such APIs usually accept. */
const DEEPEST_BODY = 128;

const IMAGE_TYPES: ReadonlySet<unknown> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

export interface RequestFacts {
  /** Betas that the request names. @default none */
  readonly betas?: ReadonlySet<string>;
  /** True if the request continues a paused reply. @default false */
  readonly resumes?: boolean;
}

/** Returns a sentence for each rule that a request breaks. `text` is its body. */
export function refusals(
  text: string,
  body: JsonObject,
  { betas = new Set(), resumes = false }: RequestFacts = {},
): readonly string[] {
  if (nestingDepth(text) > DEEPEST_BODY) return ["The request body is nested too deeply."];
  const messages = listOf(body.messages).filter(isObject);
  return [
    ...Object.keys(body).filter((key) => !MEMBERS.has(key)).map((key) =>
      `${key}: Extra inputs are not permitted`
    ),
    ...modelRefusals(body, betas),
    ...cacheProblems(body),
    ...limitProblems(body),
    ...listOf(body.system).flatMap((block) => textProblems(block, "system")),
    ...listOf(body.tools).flatMap(toolProblems),
    ...(messages.length === 0 ? ["messages: at least one message is required"] : []),
    ...messages.flatMap((message, index) => messageProblems(message, index, messages)),
    ...(resumes ? [] : lastWordProblems(body, messages)),
    ...repeatedIds(messages),
    ...repeatedTools(body),
    ...leadingThinkingProblems(body, messages),
    ...serverBlockProblems(body, messages, resumes),
  ];
}

const MEMBERS: ReadonlySet<string> = new Set([
  "model",
  "max_tokens",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "cache_control",
  "thinking",
  "output_config",
  "system",
  "tools",
  "tool_choice",
  "messages",
  "stop_sequences",
  "metadata",
]);

function limitProblems({ max_tokens, thinking }: JsonObject): readonly string[] {
  if (typeof max_tokens !== "number" || !Number.isInteger(max_tokens) || max_tokens < 1) {
    return ["max_tokens: must be a whole number of at least 1"];
  }
  const budget = isObject(thinking) ? thinking.budget_tokens : undefined;
  return typeof budget === "number" && (budget < 1024 || budget >= max_tokens)
    ? ["`max_tokens` must be greater than `thinking.budget_tokens`, which must be at least 1024"]
    : [];
}

function toolProblems(tool: unknown, index: number): readonly string[] {
  if (isServerTool(tool)) return serverToolProblems(tool, index);
  const { name, input_schema: schema } = isObject(tool) ? tool : {};
  return [
    ...(isName(name) ? [] : [`tools.${index}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`]),
    ...(isObject(schema) ? [] : [`tools.${index}.input_schema: Field required`]),
  ];
}

function repeatedTools({ tools }: JsonObject): readonly string[] {
  const names = listOf(tools).filter(isObject).map(({ name }) => name);
  return new Set(names).size === names.length ? [] : ["tools: Tool names must be unique."];
}

/**
 * Returns problems of cache marks. A request may have at most four marks, with known durations, and no one-hour mark
 * after a five-minute mark.
 */
function cacheProblems(body: JsonObject): readonly string[] {
  const messages = listOf(body.messages).filter(isObject).flatMap(blocksOf);
  const marks = [...listOf(body.tools), ...listOf(body.system), ...messages, body]
    .filter(isObject).flatMap(({ cache_control: mark }) => mark === undefined ? [] : [mark]);
  if (marks.length > 4) {
    return [`A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`];
  }
  const times = marks.map((mark) => isObject(mark) && mark.type === "ephemeral" ? mark.ttl ?? "5m" : null);
  if (times.some((ttl) => ttl !== "5m" && ttl !== "1h")) {
    return ["cache_control: Input should be ephemeral, for 5m or 1h"];
  }
  const short = times.indexOf("5m");
  return short >= 0 && times.lastIndexOf("1h") > short
    ? ["cache_control: a ttl='1h' block must not come after a ttl='5m' block"]
    : [];
}

/**
 * Returns the problem if a request has a thinking budget, and the message whose calls were answered last does not begin
 * with thinking.
 */
function leadingThinkingProblems(
  { thinking, model }: JsonObject,
  messages: readonly JsonObject[],
): readonly string[] {
  const asked = isObject(thinking) && thinking.type === "enabled" && !/-4-6/.test(String(model));
  const answers = messages.at(-1)?.role === "user" && blocksOf(messages.at(-1)).some(isResult);
  const first = blocksOf(messages.at(-2))[0];
  if (!asked || !answers || first?.type === "thinking" || first?.type === "redacted_thinking") return [];
  return [
    `messages.${
      messages.length - 2
    }.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found ` +
    `\`${first?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  ];
}

function isResult({ type }: JsonObject): boolean {
  return type === "tool_result";
}

function lastWordProblems(body: JsonObject, messages: readonly JsonObject[]): readonly string[] {
  if (messages.at(-1)?.role !== "assistant") return [];
  if (takesPrefill(body)) return [];
  return [
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  ];
}

function messageProblems(
  message: JsonObject,
  index: number,
  messages: readonly JsonObject[],
): readonly string[] {
  const where = `messages.${index}`;
  if (message.role !== "user" && message.role !== "assistant") return [`${where}.role: unexpected role`];
  const content = blocksOf(message);
  if (content.length === 0) return [`${where}: all messages must have non-empty content`];
  return [
    ...content.flatMap((block, at) => [
      ...blockProblems(block, `${where}.content.${at}`),
      ...placeProblems(block, message.role, `${where}.content.${at}`),
    ]),
    ...orderProblems(content, where),
    ...(message.role === "assistant" ? unanswered(message, index, messages) : []),
    ...(message.role === "user" ? unasked(message, index, messages) : []),
  ];
}

function blockProblems(block: JsonObject, where: string): readonly string[] {
  switch (block.type) {
    case "text":
      return textProblems(block, where);
    case "image":
    case "document":
      return mediaProblems(block, where);
    case "tool_use":
      return [
        ...(isName(block.name)
          ? []
          : [`${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`]),
        ...(isName(block.id) ? [] : [`${where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`]),
        ...(isObject(block.input) ? [] : [`${where}.input: Input should be a valid dictionary`]),
      ];
    case "tool_result":
      return resultProblems(block, where);
    case "thinking":
      return typeof block.thinking === "string" ? [] : [`${where}.thinking.thinking: Field required`];
    case "redacted_thinking":
      return typeof block.data === "string" && block.data !== ""
        ? []
        : [`${where}.redacted_thinking.data: Field required`];
    default:
      return [];
  }
}

/** Block types, and the roles that may contain them. */
const PLACES: Readonly<Record<string, readonly unknown[]>> = {
  text: ["user", "assistant"],
  image: ["user"],
  document: ["user", "assistant"],
  tool_use: ["assistant"],
  tool_result: ["user"],
  thinking: ["assistant"],
  redacted_thinking: ["assistant"],
  server_tool_use: ["assistant"],
  web_search_tool_result: ["assistant"],
  web_fetch_tool_result: ["assistant"],
};

function placeProblems({ type }: JsonObject, role: unknown, where: string): readonly string[] {
  const roles = PLACES[String(type)];
  if (roles === undefined) return [`${where}: Input tag '${type}' does not match any of the expected tags`];
  return roles.includes(role) ? [] : [`${where}: \`${type}\` blocks are not permitted in ${role} messages`];
}

/** Returns the problem if results do not come before all other blocks in their message. */
function orderProblems(content: readonly JsonObject[], where: string): readonly string[] {
  const other = content.findIndex((block) => !isResult(block));
  return other >= 0 && content.findLastIndex(isResult) > other
    ? [`${where}: tool_result blocks must come before other content of the message`]
    : [];
}

function resultProblems(block: JsonObject, where: string): readonly string[] {
  const { content } = block;
  const empty = content === undefined || content === "" || (Array.isArray(content) && content.length === 0);
  if (block.is_error === true && empty) return [`${where}: content cannot be empty if is_error is true`];
  return listOf(content).filter(isObject).flatMap((inner, at) =>
    blockProblems(inner, `${where}.content.${at}`)
  );
}

function textProblems(block: unknown, where: string): readonly string[] {
  if (!isObject(block) || block.type !== "text" || typeof block.text !== "string") return [];
  if (block.text === "") return [`${where}: text content blocks must be non-empty`];
  return block.text.trim() === "" ? [`${where}: text content blocks must contain non-whitespace text`] : [];
}

function mediaProblems(block: JsonObject, where: string): readonly string[] {
  const { source } = block;
  if (!isObject(source) || source.type !== "base64") return [];
  const { media_type, data } = source;
  if (block.type === "image" && !IMAGE_TYPES.has(media_type)) {
    return [
      `${where}.source.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    ];
  }
  if (typeof data !== "string" || data === "") return [`${where}.source.data: cannot be empty`];
  return typeOfSignature(beginning(data)) === media_type
    ? []
    : [`${where}.source: the data does not match the media type ${media_type}`];
}

/** Decodes the first bytes of base64 data. */
function beginning(data: string): Uint8Array {
  const text = atob(data.slice(0, 64));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Reports calls that the next message does not answer exactly once. */
function unanswered(message: JsonObject, index: number, messages: readonly JsonObject[]): readonly string[] {
  const next = blocksOf(messages[index + 1]).filter(({ type }) => type === "tool_result");
  return blocksOf(message).filter(({ type }) => type === "tool_use").flatMap(({ id }) => {
    const count = next.filter(({ tool_use_id }) => tool_use_id === id).length;
    if (count === 1) return [];
    return [
      count === 0
        ? `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}`
        : `messages.${index + 1}: each tool_use must have a single result; found several for ${id}`,
    ];
  });
}

/** Reports results whose call is not in the previous message. */
function unasked(message: JsonObject, index: number, messages: readonly JsonObject[]): readonly string[] {
  const asked = new Set(
    blocksOf(messages[index - 1]).filter(({ type }) => type === "tool_use").map(({ id }) => id),
  );
  return blocksOf(message).filter(({ type, tool_use_id }) =>
    type === "tool_result" && !asked.has(tool_use_id)
  ).map(({ tool_use_id }) =>
    `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${tool_use_id}`
  );
}

function repeatedIds(messages: readonly JsonObject[]): readonly string[] {
  const ids = messages.flatMap(blocksOf).filter(({ type }) => type === "tool_use").map(({ id }) => id);
  return new Set(ids).size === ids.length ? [] : ["messages: `tool_use` ids must be unique"];
}

/** Returns the blocks of a message; a string counts as one text block. */
function blocksOf(message: JsonObject | undefined): readonly JsonObject[] {
  const { content } = message ?? {};
  return typeof content === "string" ? [{ type: "text", text: content }] : listOf(content).filter(isObject);
}

function isName(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z0-9_-]{1,128}$/.test(value);
}
