// Checks of the Responses API, with its own messages, shortened. They use their own lists of models, so that an error
// in the model table shows up here.

import { isObject } from "../../../base/is_object.ts";
import { nestingDepth } from "../../../base/text/json_text.ts";
import { type Asked, type JsonObject, listOf } from "../dialect.ts";
import { readSealed, requestAccount } from "../sealed.ts";
import { findRepeated, isBase64, isObjectText, isToolName } from "./checks.ts";

const MEMBERS: ReadonlySet<string> = new Set(
  ("model input stream store max_output_tokens temperature top_p tools tool_choice reasoning include prompt_cache_key " +
    "prompt_cache_retention prompt_cache_options max_tool_calls text truncation instructions metadata parallel_tool_calls service_tier")
    .split(" "),
);

/** Matches models since 5.5, which refuse to cache a prompt in memory only. */
const NEW_CACHE = /^(?:gpt-5\.[5-9]|gpt-6)/;
const ALWAYS_REASON = /^(?:gpt-6\.1-sol|gpt-6(?:\.2)?-astra|gpt-6\.2-sol)/;
/** Matches models that take a duration for their cache; for them, the older word has no effect. */
const TTL_CACHE = /^(?:gpt-5\.[6-9]|gpt-6)/;
const REASONS = /^(?:gpt-5|gpt-6|o\d)/;
const NO_EFFORT = /^gpt-5(?:\.\d)?-chat/;
const GONE = /^(?:gpt-3\.5|gpt-4$|gpt-4-turbo|gpt-4o-2024-05-13|o1|o3-mini|o4-mini|gpt-4\.1-nano)/;

export function refusals(asked: Asked): readonly string[] {
  const { text, body } = asked;
  if (nestingDepth(text) > 128) return ["The request body is nested too deeply."];
  const { model, input } = body;
  if (typeof model !== "string" || model === "") return ["Missing required parameter: 'model'."];
  if (GONE.test(model)) return [`The model '${model}' has been deprecated.`];
  const items = typeof input === "string" ? [] : listOf(input).filter(isObject);
  if (items.length === 0 && typeof input !== "string") return ["Missing required parameter: 'input'."];
  return [
    ...Object.keys(body).filter((key) => !MEMBERS.has(key)).map((key) => `Unknown parameter: '${key}'.`),
    ...cacheProblems(body, model),
    ...reasoningProblems(body, model),
    ...limitProblems(body),
    ...toolProblems(body),
    ...items.flatMap(itemProblems),
    ...accountProblems(items, requestAccount(asked)),
    ...pairProblems(items),
    ...followProblems(items),
    ...idProblems(items),
    ...searchProblems(body, items),
  ];
}

function cacheProblems(body: JsonObject, model: string): readonly string[] {
  const { prompt_cache_key: key, prompt_cache_retention: retention, prompt_cache_options: options } = body;
  const problems: string[] = [];
  if (typeof key === "string" && [...key].length > 64) {
    problems.push(
      `Invalid 'prompt_cache_key': string too long. Expected at most 64 characters, got ${[...key].length}.`,
    );
  }
  if (retention !== undefined && retention !== "in_memory" && retention !== "24h") {
    problems.push(`Invalid value: '${retention}'. Supported values are: 'in_memory' and '24h'.`);
  }
  if (retention === "in_memory" && NEW_CACHE.test(model)) {
    problems.push(`prompt_cache_retention: the model ${model} is compatible only with 24h extended caching.`);
  }
  const ttl = isObject(options) ? options.ttl : undefined;
  if (
    options !== undefined && (!TTL_CACHE.test(model) || (ttl !== undefined && ttl !== "30m" && ttl !== "12h"))
  ) {
    problems.push(`prompt_cache_options: '${ttl}' is not supported with the model ${model}.`);
  }
  if (retention !== undefined && options !== undefined) {
    problems.push("prompt_cache_retention and prompt_cache_options cannot be used together.");
  }
  return problems;
}

function reasoningProblems(body: JsonObject, model: string): readonly string[] {
  const { reasoning, include, temperature } = body;
  const effort = isObject(reasoning) ? reasoning.effort : undefined;
  const reasons = REASONS.test(model) && !NO_EFFORT.test(model);
  const problems: string[] = [];
  if (effort !== undefined && !reasons) {
    problems.push("Unsupported parameter: 'reasoning.effort' is not supported with this model.");
  } else if (effort !== undefined && !effortsOf(model).includes(effort)) {
    problems.push(
      `Unsupported value: 'reasoning.effort' does not support '${effort}' with this model. Supported values are: ` +
        `${effortsOf(model).join(", ")}.`,
    );
  }
  if (listOf(include).includes("reasoning.encrypted_content") && !reasons) {
    problems.push("Encrypted content is not supported with this model.");
  }
  if (temperature !== undefined && reasons && effort !== "none") {
    problems.push("Unsupported parameter: 'temperature' is not supported with this model.");
  }
  if (typeof temperature === "number" && (temperature < 0 || temperature > 2)) {
    problems.push("Invalid 'temperature': expected a value from 0 to 2.");
  }
  return problems;
}

function effortsOf(model: string): readonly unknown[] {
  if (ALWAYS_REASON.test(model)) return ["low", "medium", "high", "xhigh", "max"];
  if (/^gpt-6|^gpt-5\.6/.test(model)) return ["none", "low", "medium", "high", "xhigh", "max"];
  if (/-pro/.test(model)) return /^gpt-5-pro/.test(model) ? ["high"] : ["medium", "high", "xhigh"];
  if (/^gpt-5\.[2-5]/.test(model)) return ["none", "low", "medium", "high", "xhigh"];
  if (/^gpt-5\.1/.test(model)) return ["none", "low", "medium", "high"];
  return /^gpt-5/.test(model) ? ["minimal", "low", "medium", "high"] : ["low", "medium", "high"];
}

function limitProblems({ max_output_tokens: most }: JsonObject): readonly string[] {
  if (most === undefined) return [];
  if (typeof most !== "number" || !Number.isInteger(most) || most < 16) {
    return ["Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16."];
  }
  return most > 272_000 ? ["Invalid 'max_output_tokens': integer above maximum value."] : [];
}

function toolProblems({ tools, tool_choice: choice }: JsonObject): readonly string[] {
  const all = listOf(tools).filter(isObject);
  const offered = all.filter(({ type }) => type !== "web_search");
  const twice = findRepeated(offered.map(({ name }) => name));
  return [
    ...(choice !== undefined && all.length === 0
      ? ["Tool choice is only allowed when 'tools' are specified."]
      : []),
    ...(twice === null ? [] : [`Invalid 'tools': the name '${twice}' is used twice.`]),
    ...all.filter(({ type, blocked_domains: blocked }) => type === "web_search" && blocked !== undefined)
      .map(() => "Unknown parameter: 'tools[].blocked_domains'."),
    ...offered.flatMap((tool, index) => [
      ...(isToolName(tool.name)
        ? []
        : [`Invalid 'tools[${index}].name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`]),
      ...(isObject(tool.parameters) ? [] : [`Missing required parameter: 'tools[${index}].parameters'.`]),
      ...(tool.strict === true ? strictProblems(tool.parameters, String(tool.name), []) : []),
    ]),
  ];
}

/** Returns problems of strict schemas, which must close every object and require all of its members. */
function strictProblems(schema: unknown, tool: string, path: readonly string[]): readonly string[] {
  if (!isObject(schema)) return [];
  const { properties, items, required } = schema;
  const at = `Invalid schema for function '${tool}': In context=(${path.join(", ")})`;
  const inner = [
    ...Object.entries(isObject(properties) ? properties : {}),
    ...(items === undefined ? [] : [["items", items] as const]),
  ];
  const missing = Object.keys(isObject(properties) ? properties : {})
    .filter((key) => !listOf(required).includes(key));
  const isOpen = isObject(properties) && schema.additionalProperties !== false;
  return [
    ...(isOpen ? [`${at}, 'additionalProperties' is required to be supplied and to be false.`] : []),
    ...(missing.length > 0
      ? [`${at}, 'required' must include every key in properties. Missing '${missing[0]}'.`]
      : []),
    ...inner.flatMap(([key, value]) => strictProblems(value, tool, [...path, key])),
  ];
}

function itemProblems(item: JsonObject, index: number): readonly string[] {
  const at = `input[${index}]`;
  const type = item.type ?? (item.role === undefined ? undefined : "message");
  switch (type) {
    case "message":
      return messageProblems(item, at);
    case "function_call":
      return [
        ...(isCallId(item.call_id) ? [] : [`Invalid '${at}.call_id': expected 1 to 64 characters.`]),
        ...(isToolName(item.name) ? [] : [`Invalid '${at}.name': string does not match pattern.`]),
        ...(isObjectText(item.arguments)
          ? []
          : [`Invalid '${at}.arguments': expected the JSON of an object.`]),
      ];
    case "function_call_output":
      return typeof item.output === "string" || listOf(item.output).length > 0
        ? listOf(item.output).filter(isObject).flatMap((part, inner) =>
          partProblems(part, "user", `${at}.output[${inner}]`)
        )
        : [`Invalid type for '${at}.output': expected a string or a list of content parts.`];
    case "reasoning":
      return reasoningItemProblems(item);
    case "web_search_call":
      return typeof item.id === "string" && isObject(item.action) && item.status !== undefined
        ? []
        : [`Missing required parameter: '${at}' of type web_search_call needs id, status and action.`];
    default:
      return [`Invalid value: '${type}'. '${at}.type' is none of the supported values.`];
  }
}

function isCallId(value: unknown): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= 64;
}

function messageProblems({ role, content, phase }: JsonObject, at: string): readonly string[] {
  if (!["user", "assistant", "developer", "system"].includes(String(role))) {
    return [
      `Invalid value: '${role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
    ];
  }
  const phases = [undefined, null, "commentary", "final_answer"];
  return [
    ...(phases.includes(phase as string) ? [] : [`Invalid value: '${phase}' for '${at}.phase'.`]),
    ...(content === "" || (Array.isArray(content) && content.length === 0) || content === undefined
      ? [`Invalid '${at}.content': it must not be empty.`]
      : []),
    ...listOf(content).filter(isObject).flatMap((part, index) =>
      partProblems(part, role, `${at}.content[${index}]`)
    ),
  ];
}

const IMAGES = /^data:image\/(?:png|jpeg|gif|webp);base64,(.*)$/;

function partProblems(part: JsonObject, role: unknown, at: string): readonly string[] {
  const mine = role === "assistant"
    ? ["output_text", "refusal"]
    : ["input_text", "input_image", "input_file"];
  if (!mine.includes(String(part.type))) {
    return [`Invalid value: '${part.type}'. Supported values at '${at}.type' are: ${mine.join(", ")}.`];
  }
  if (part.type === "input_image") {
    const data = IMAGES.exec(String(part.image_url))?.[1];
    return isBase64(data)
      ? []
      : [`Invalid '${at}.image_url'. Expected a base64 data URL with an image of a supported type.`];
  }
  if (part.type === "input_file") {
    const data = /^data:application\/pdf;base64,(.*)$/.exec(String(part.file_data))?.[1];
    const named = typeof part.filename === "string" && part.filename !== "";
    return isBase64(data) && named
      ? []
      : [`Invalid '${at}.file_data'. Expected a named file as a base64 data URL.`];
  }
  return typeof (part.text ?? part.refusal) === "string" ? [] : [`Missing required parameter: '${at}.text'.`];
}

function reasoningItemProblems({ id, encrypted_content: content, summary }: JsonObject): readonly string[] {
  if (content === undefined || content === null || content === "") {
    return [`Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`];
  }
  return [
    ...(isBase64(content)
      ? []
      : [`invalid_encrypted_content: The encrypted content for item ${id} could not be verified.`]),
    ...(Array.isArray(summary) ? [] : [`Missing required parameter: 'summary' of item '${id}'.`]),
  ];
}

/** Returns the problem of the first reasoning item that another account made. */
function accountProblems(items: readonly JsonObject[], account: string): readonly string[] {
  const foreign = items.find(({ type, encrypted_content: content }) =>
    type === "reasoning" && (readSealed(content)?.account ?? account) !== account
  );
  return foreign === undefined
    ? []
    : [`invalid_encrypted_content: The encrypted content for item ${foreign.id} could not be verified.`];
}

/**
 * Returns problems of calls and their outputs. Each call must have one output after it, and each output must belong to
 * a call.
 */
function pairProblems(items: readonly JsonObject[]): readonly string[] {
  const problems: string[] = [];
  const open = new Map<unknown, boolean>();
  for (const { type, call_id: id } of items) {
    if (type === "function_call") open.set(id, false);
    else if (type === "function_call_output") {
      if (open.get(id) === undefined) {
        problems.push(`No tool call found for function call output with call_id ${id}.`);
      } else if (open.get(id)) problems.push(`Duplicate function call output for call_id ${id}.`);
      open.set(id, true);
    }
  }
  for (const [id, answered] of open) {
    if (!answered) problems.push(`No tool output found for function call ${id}.`);
  }
  return problems;
}

/** Returns the problem if the item after a reasoning item is not one of the model's. */
function followProblems(items: readonly JsonObject[]): readonly string[] {
  return items.flatMap((item, index) => {
    if (item.type !== "reasoning") return [];
    const next = items.slice(index + 1).find(({ type }) => type !== "reasoning");
    const follows = next !== undefined &&
      (next.type === "function_call" || next.type === "web_search_call" || next.role === "assistant");
    return follows
      ? []
      : [`Item '${item.id}' of type 'reasoning' was provided without its required following item.`];
  });
}

/** Returns the problem if a search goes back although the request does not offer the tool. */
function searchProblems({ tools }: JsonObject, items: readonly JsonObject[]): readonly string[] {
  const isOffered = listOf(tools).filter(isObject).some(({ type }) => type === "web_search");
  const found = items.find(({ type }) => type === "web_search_call");
  return isOffered || found === undefined
    ? []
    : [`Item '${found.id}' of type 'web_search_call' needs the tool.`];
}

function idProblems(items: readonly JsonObject[]): readonly string[] {
  const twice = findRepeated(items.flatMap(({ id }) => id === undefined ? [] : [id]));
  const calls = findRepeated(items.flatMap(({ type, call_id: id }) => type === "function_call" ? [id] : []));
  return [
    ...(twice === null
      ? []
      : [`Duplicate item found with id ${twice}. Remove duplicate items from your input and try again.`]),
    ...(calls === null ? [] : [`Duplicate function call found with call_id ${calls}.`]),
  ];
}
