// Checks of Chat Completions servers, with their own messages, shortened. They are rules of nearly all servers and, by
// model name, those of Moonshot and OpenAI.

import { isObject } from "../../../base/is_object.ts";
import { nestingDepth } from "../../../base/text/json_text.ts";
import { type Asked, type JsonObject, listOf } from "../dialect.ts";
import { findRepeated, isBase64, isObjectText, isToolName } from "./checks.ts";

export function refusals({ text, body }: Asked): readonly string[] {
  if (nestingDepth(text) > 128) return ["The request body is nested too deeply."];
  const { model } = body;
  if (typeof model !== "string" || model === "") return ["you must provide a model parameter"];
  const messages = listOf(body.messages).filter(isObject);
  if (messages.length === 0) return ["Invalid 'messages': empty array. Expected at least one message."];
  return [
    ...limitProblems(body),
    ...toolProblems(body),
    ...messages.flatMap((message, index) => messageProblems(message, index)),
    ...pairProblems(messages),
    ...(/^(?:kimi|moonshot)/.test(model) ? moonshotProblems(body, model, messages) : []),
    ...(NEEDS_REASONING.test(model) ? missingReasoning(body, messages) : []),
    ...vendorProblems(body, model, messages),
    ...(NO_REASONING.test(model) ? reasoningFieldProblems(messages, "property") : []),
    ...(/^(?:gpt-|o\d)/.test(model) ? openaiProblems(body, model, messages) : []),
  ];
}

function limitProblems(body: JsonObject): readonly string[] {
  const { max_tokens: old, max_completion_tokens: most, temperature, stream, stream_options: options } = body;
  const limit = most ?? old;
  const isLimit = limit === undefined || (typeof limit === "number" && Number.isInteger(limit) && limit > 0);
  return [
    ...(old !== undefined && most !== undefined
      ? ["max_tokens and max_completion_tokens cannot both be set"]
      : []),
    ...(isLimit ? [] : [`max_tokens must be at least 1, got ${limit}.`]),
    ...(temperature === undefined || (typeof temperature === "number" && temperature >= 0 && temperature <= 2)
      ? []
      : ["temperature: expected a value from 0 to 2"]),
    ...(options !== undefined && stream !== true
      ? ["The 'stream_options' parameter is only allowed when 'stream' is enabled."]
      : []),
  ];
}

function toolProblems(
  { tools, tool_choice: choice, parallel_tool_calls: parallel }: JsonObject,
): readonly string[] {
  const all = listOf(tools).filter(isObject);
  const offered = all.filter(({ type }) => !/^openrouter:/.test(String(type)))
    .map(({ function: tool }) => isObject(tool) ? tool : {});
  const twice = findRepeated(offered.map(({ name }) => name));
  return [
    ...(tools !== undefined && all.length === 0 ? ["Invalid 'tools': empty array."] : []),
    ...((choice !== undefined || parallel !== undefined) && offered.length === 0
      ? ["'tool_choice' and 'parallel_tool_calls' are only allowed when 'tools' are specified."]
      : []),
    ...(choice === undefined || ["auto", "none", "required"].includes(choice as string)
      ? []
      : ["tool_choice: only 'auto', 'none' and 'required' are supported"]),
    ...(twice === null ? [] : [`Invalid 'tools': the name '${twice}' is used twice.`]),
    ...all.filter(({ parameters: own }) =>
      isObject(own) && own.allowed_domains !== undefined &&
      (own.excluded_domains ?? own.blocked_domains) !== undefined
    ).map(() => "tools: allowed and excluded domains cannot be combined"),
    ...offered.flatMap((tool, index) => [
      ...(isToolName(tool.name)
        ? []
        : [`Invalid 'tools[${index}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`]),
      ...(isObject(tool.parameters) && tool.parameters.type === "object"
        ? []
        : [`Invalid schema for function '${tool.name}': schema must be a JSON Schema of 'type: "object"'.`]),
    ]),
  ];
}

function messageProblems(message: JsonObject, index: number): readonly string[] {
  const at = `messages[${index}]`;
  const { role, content, tool_calls: calls } = message;
  const empty = content === undefined || content === null || content === "" ||
    (Array.isArray(content) && content.length === 0);
  switch (role) {
    case "system":
    case "developer":
      return index === 0 ? (empty ? [`${at}: message content must not be empty`] : []) : [
        "System message must be at the beginning.",
      ];
    case "user":
      return empty
        ? [`${at}: the message with role 'user' must not be empty`]
        : listOf(content).filter(isObject).flatMap((part, place) =>
          partProblems(part, `${at}.content[${place}]`)
        );
    case "assistant":
      return [
        ...(empty && listOf(calls).length === 0
          ? [`${at}: the message with role 'assistant' must not be empty`]
          : []),
        ...(calls !== undefined && listOf(calls).length === 0
          ? [`Invalid '${at}.tool_calls': empty array.`]
          : []),
        ...listOf(calls).filter(isObject).flatMap((call, place) =>
          callProblems(call, `${at}.tool_calls[${place}]`)
        ),
      ];
    case "tool":
      return typeof content === "string" ? [] : [`${at}.content: expected a string`];
    default:
      return [`Invalid value: '${role}' for '${at}.role'.`];
  }
}

const IMAGES = /^data:image\/(?:png|jpeg|gif|webp);base64,(.*)$/;

function partProblems(part: JsonObject, at: string): readonly string[] {
  if (part.type === "text") {
    return typeof part.text === "string" && part.text !== "" ? [] : [`${at}.text: must not be empty`];
  }
  if (part.type !== "image_url") return [`Invalid value: '${part.type}' for '${at}.type'.`];
  const url = isObject(part.image_url) ? String(part.image_url.url) : "";
  return isBase64(IMAGES.exec(url)?.[1]) || /^https?:/.test(url)
    ? []
    : [`${at}.image_url: unsupported image; expected png, jpeg, gif or webp`];
}

function callProblems({ id, type, function: call }: JsonObject, at: string): readonly string[] {
  const { name, arguments: input } = isObject(call) ? call : {};
  return [
    ...(typeof id === "string" && id !== "" ? [] : [`Missing required parameter: '${at}.id'.`]),
    ...(type === "function" ? [] : [`Invalid value for '${at}.type'.`]),
    ...(isToolName(name) ? [] : [`Invalid '${at}.function.name': string does not match pattern.`]),
    ...(isObjectText(input)
      ? []
      : [`${at}.function.arguments: can only get item pairs from the JSON of a mapping`]),
  ];
}

/** Returns problems of calls that are not answered exactly once immediately after their message. */
function pairProblems(messages: readonly JsonObject[]): readonly string[] {
  const problems: string[] = [];
  let asked: unknown[] = [];
  let answered: unknown[] = [];
  const close = (): void => {
    const missing = asked.filter((id) => !answered.includes(id));
    if (missing.length > 0) {
      problems.push(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
          `Missing: ${missing.join(", ")}.`,
      );
    }
  };
  const ids: unknown[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const { tool_call_id: id } = message;
      if (!asked.includes(id)) {
        problems.push(
          "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
        );
      } else if (answered.includes(id)) problems.push(`Duplicate tool message for tool_call_id ${id}.`);
      answered.push(id);
      continue;
    }
    close();
    asked = listOf(message.tool_calls).filter(isObject).map(({ id }) => id);
    answered = [];
    ids.push(...asked);
  }
  close();
  const twice = findRepeated(ids);
  return twice === null ? problems : [...problems, `tool call id ${twice} is duplicated`];
}

const KIMI_SINCE_3 = /^kimi-k[3-9]/;
const KIMI_FIXED = /^kimi-k(?:[3-9]|2\.[5-9]|2-thinking)/;
const KIMI_GONE = /^kimi-k2(?:\.5|-thinking|-.*-preview)/;

function moonshotProblems(
  body: JsonObject,
  model: string,
  messages: readonly JsonObject[],
): readonly string[] {
  const { thinking, reasoning_effort: effort, temperature } = body;
  const problems: string[] = [];
  if (KIMI_GONE.test(model)) problems.push(`Not found the model ${model} or Permission denied`);
  if (temperature !== undefined && temperature !== 1 && KIMI_FIXED.test(model)) {
    problems.push("invalid temperature: only 1 is allowed for this model");
  }
  const off = isObject(thinking) && thinking.type === "disabled";
  if (KIMI_SINCE_3.test(model) && off) problems.push("thinking cannot be disabled for this model");
  if (
    KIMI_SINCE_3.test(model) && effort !== undefined &&
    !["low", "medium", "high", "xhigh", "max"].includes(String(effort))
  ) {
    problems.push(`invalid reasoning_effort: ${effort}`);
  }
  if (!KIMI_SINCE_3.test(model) && effort !== undefined) problems.push("unknown parameter reasoning_effort");
  if (!KIMI_FIXED.test(model) || off) return problems;
  messages.forEach((message, index) => {
    if (listOf(message.tool_calls).length === 0 || typeof message.reasoning_content === "string") return;
    problems.push(
      `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
    );
  });
  return problems;
}

/** Matches models of vendors that refuse reasoning in messages: Groq, Cerebras, Mistral. */
const NO_REASONING = /^(?:groq|cerebras|mistral|codestral)/;

/** Matches models of vendors that need reasoning back: DeepSeek, GLM. Gateways put the vendor's name in front. */
const NEEDS_REASONING = /^(?:[\w-]+\/)?(?:deepseek|glm)/;

/** Such a model thinks unless told not to, and then needs the reasoning of every message with calls, in all requests. */
function missingReasoning({ thinking }: JsonObject, messages: readonly JsonObject[]): readonly string[] {
  if (isObject(thinking) && thinking.type === "disabled") return [];
  const isBare = (
    { tool_calls, reasoning_content: words, reasoning, reasoning_details: details }: JsonObject,
  ) => tool_calls !== undefined && typeof (words ?? reasoning) !== "string" && listOf(details).length === 0;
  return messages.some(isBare)
    ? ["The `reasoning_content` in the thinking mode must be passed back to the API."]
    : [];
}

/** Fields with which a vendor configures thinking, by the names of its models; it refuses those of the others. */
const THINKING_FIELDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^deepseek/, ["thinking", "reasoning_effort"]],
  [/^glm/, ["thinking"]],
  [/^qwen/, ["enable_thinking"]],
  [/^minimax/i, []],
];

/** The efforts of DeepSeek. */
const DEEPSEEK_EFFORTS: readonly unknown[] = [undefined, "low", "high", "max"];

function vendorProblems(
  body: JsonObject,
  model: string,
  messages: readonly JsonObject[],
): readonly string[] {
  const [, known] = THINKING_FIELDS.find(([models]) => models.test(model)) ?? [];
  const foreign = known === undefined
    ? []
    : ["thinking", "reasoning_effort", "reasoning", "enable_thinking"].filter((field) =>
      body[field] !== undefined && !known.includes(field)
    );
  const ids = messages.flatMap(({ tool_calls: calls }) => listOf(calls).filter(isObject).map(({ id }) => id));
  const isLong = /^(?:mistral|codestral)/.test(model) &&
    ids.some((id) => !/^[A-Za-z0-9]{9}$/.test(String(id)));
  return [
    ...foreign.map((field) => `Unknown parameter: '${field}'.`),
    ...(isLong ? ["Tool call id must be a-z, A-Z, 0-9, with a length of 9."] : []),
    ...(/^deepseek/.test(model) && !DEEPSEEK_EFFORTS.includes(body.reasoning_effort)
      ? [`reasoning_effort: unknown variant '${body.reasoning_effort}', expected one of low, high, max`]
      : []),
    ...(/^minimax/i.test(model) ? reasoningFieldProblems(messages, "property") : []),
  ];
}

function reasoningFieldProblems(messages: readonly JsonObject[], what: string): readonly string[] {
  return messages.flatMap((message, index) =>
    ["reasoning_content", "reasoning", "reasoning_details"].filter((key) => message[key] !== undefined)
      .map((key) => `messages.${index}: ${what} '${key}' is unsupported`)
  );
}

function openaiProblems(body: JsonObject, model: string, messages: readonly JsonObject[]): readonly string[] {
  const { max_tokens: limit, tools, reasoning_effort: effort, temperature } = body;
  const reasons = /^(?:gpt-[56]|o\d)/.test(model) && !/-chat/.test(model);
  const problems: string[] = [];
  if (reasons && limit !== undefined) {
    problems.push(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
  }
  if (reasons && temperature !== undefined && temperature !== 1) {
    problems.push("Unsupported value: 'temperature' does not support values other than 1 with this model.");
  }
  if (/^gpt-6/.test(model) && tools !== undefined && effort !== "none") {
    problems.push(
      "Function tools with reasoning_effort are not supported for this model in Chat Completions.",
    );
  }
  messages.forEach((message, index) => {
    for (const key of ["reasoning_content", "reasoning", "reasoning_details"]) {
      if (message[key] !== undefined) problems.push(`Unknown parameter: 'messages[${index}].${key}'.`);
    }
  });
  return problems;
}
