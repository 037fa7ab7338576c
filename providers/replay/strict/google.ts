// Checks of Gemini's generateContent, with its own messages, shortened.

import { isObject } from "../../../base/is_object.ts";
import { nestingDepth } from "../../../base/text/json_text.ts";
import { type Asked, type JsonObject, listOf } from "../dialect.ts";
import { isVertex, modelOf } from "../google/address.ts";
import { readSealed, requestAccount } from "../sealed.ts";
import { findRepeated, isBase64, isToolName } from "./checks.ts";

const MEMBERS: ReadonlySet<string> = new Set(
  "contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels store"
    .split(
      " ",
    ),
);
const PART_MEMBERS: ReadonlySet<string> = new Set(
  "text thought thoughtSignature inlineData fileData functionCall functionResponse toolCall toolResponse"
    .split(" "),
);

const SIGNED = /^gemini-(?:[3-9])/;
const GONE = /^gemini-(?:1|2\.0|3-pro-preview)/;
const GONE_AT_VERTEX = /^gemini-2\.5-/;
const STAND_INS = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

export function refusals(asked: Asked): readonly string[] {
  const { text, body, path } = asked;
  if (nestingDepth(text) > 100) return ["Invalid JSON payload received. Nesting too deep."];
  const model = modelOf(path);
  if (GONE.test(model) || (isVertex(path) && GONE_AT_VERTEX.test(model))) {
    return [`models/${model} is not found, or is not supported for generateContent.`];
  }
  const contents = listOf(body.contents).filter(isObject);
  if (contents.length === 0) return ["contents is not specified"];
  return [
    ...unknownMembers(body, MEMBERS, ""),
    ...(isVertex(path) && body.store !== undefined ? ['Unknown name "store": Cannot find field.'] : []),
    ...systemProblems(body.systemInstruction),
    ...configProblems(body.generationConfig, model),
    ...toolProblems(body),
    ...searchProblems(body, contents, isVertex(path)),
    ...contents.flatMap((content, index) => contentProblems(content, index, isVertex(path))),
    ...orderProblems(contents),
    ...(SIGNED.test(model) ? signatureProblems(contents, (sealed) => isForeign(sealed, asked)) : []),
  ];
}

function unknownMembers(value: JsonObject, known: ReadonlySet<string>, at: string): readonly string[] {
  return Object.keys(value).filter((key) => !known.has(key)).map((key) =>
    `Invalid JSON payload received. Unknown name "${key}"${
      at === "" ? "" : ` at '${at}'`
    }: Cannot find field.`
  );
}

function systemProblems(instruction: unknown): readonly string[] {
  if (instruction === undefined) return [];
  const parts = isObject(instruction) ? listOf(instruction.parts).filter(isObject) : [];
  return parts.length > 0 && parts.every(({ text }) => typeof text === "string" && text !== "")
    ? []
    : ["system_instruction.parts: must include at least one parts field with text"];
}

function configProblems(config: unknown, model: string): readonly string[] {
  if (config === undefined) return [];
  if (!isObject(config)) return ["generation_config: expected an object"];
  const { maxOutputTokens: most, temperature, thinkingConfig: thinking } = config;
  const problems: string[] = [];
  if (most !== undefined && (typeof most !== "number" || most < 1 || most > 65_536)) {
    problems.push(
      "Unable to submit request because it has a maxOutputTokens value out of the supported range from 1 to 65537.",
    );
  }
  if (temperature !== undefined && (typeof temperature !== "number" || temperature < 0 || temperature > 2)) {
    problems.push(
      "Unable to submit request because it has a temperature value out of the supported range [0, 2].",
    );
  }
  if (!isObject(thinking)) return problems;
  const { thinkingLevel: level, thinkingBudget: budget } = thinking;
  if (level !== undefined && budget !== undefined) {
    problems.push("You can only set only one of thinking budget and thinking level.");
  }
  if (level !== undefined && !SIGNED.test(model)) {
    problems.push("Thinking level is not supported for this model.");
  }
  if (budget !== undefined && /^gemini-4/.test(model)) {
    problems.push("Thinking budget is not supported for this model.");
  }
  const levels = /flash/.test(model) ? ["MINIMAL", "LOW", "MEDIUM", "HIGH"] : ["LOW", "MEDIUM", "HIGH"];
  if (level !== undefined && !levels.includes(String(level).toUpperCase())) {
    problems.push(`Thinking level ${level} is not supported for this model.`);
  }
  const least = /^gemini-2\.5-flash-lite/.test(model) ? 512 : /^gemini-2\.5-pro/.test(model) ? 128 : 0;
  if (typeof budget === "number" && budget !== -1 && budget !== 0 && (budget < least || budget > 32_768)) {
    problems.push(
      `The thinking budget ${budget} is invalid. Please choose a value between ${least} and 32768.`,
    );
  }
  return problems;
}

function toolProblems({ tools, toolConfig }: JsonObject): readonly string[] {
  const declared = listOf(tools).filter(isObject).flatMap((tool) => listOf(tool.functionDeclarations))
    .filter(isObject);
  const twice = findRepeated(declared.map(({ name }) => name));
  return [
    ...(tools !== undefined && declared.length === 0 && !hasSearch(tools)
      ? ["tools[0].tool_type: required one_of 'tool_type' must be set"]
      : []),
    ...(toolConfig !== undefined && declared.length === 0 && !hasSearch(tools)
      ? ["Function calling config is set without function_declarations."]
      : []),
    ...(twice === null ? [] : [`Duplicate function declaration found: ${twice}`]),
    ...declared.flatMap((tool, index) => [
      ...(isToolName(tool.name) ? [] : [
        `Invalid function name at 'tools[0].function_declarations[${index}].name'. Must start with a letter or an underscore.`,
      ]),
      ...(tool.parameters !== undefined && tool.parametersJsonSchema !== undefined
        ? ["Only one of parameters and parameters_json_schema can be set."]
        : []),
      ...(typeof tool.description === "string"
        ? []
        : [`tools[0].function_declarations[${index}].description is required.`]),
    ]),
  ];
}

function hasSearch(tools: unknown): boolean {
  return listOf(tools).filter(isObject).some((tool) =>
    tool.googleSearch !== undefined || tool.urlContext !== undefined
  );
}

/**
 * Returns problems of tools that the API runs: with functions they need a flag, which Vertex AI does not know, and their
 * calls go back with id, signature and response.
 */
function searchProblems(
  { tools, toolConfig }: JsonObject,
  contents: readonly JsonObject[],
  vertex: boolean,
): readonly string[] {
  const flag = isObject(toolConfig) ? toolConfig.includeServerSideToolInvocations : undefined;
  const hasFunctions = listOf(tools).filter(isObject).some((tool) => tool.functionDeclarations !== undefined);
  const parts = contents.flatMap((content) => listOf(content.parts).filter(isObject));
  const calls = parts.filter((part) => isObject(part.toolCall));
  const responses = parts.filter((part) => isObject(part.toolResponse));
  const idOf = ({ toolCall: call, toolResponse: response }: JsonObject) => {
    const inner = call ?? response;
    return isObject(inner) ? inner.id : undefined;
  };
  return [
    ...(vertex && flag !== undefined
      ? ['Invalid JSON payload received. Unknown name "includeServerSideToolInvocations".']
      : []),
    ...(hasSearch(tools) && hasFunctions && flag !== true
      ? ["google_search with function_declarations needs include_server_side_tool_invocations."]
      : []),
    ...(calls.length + responses.length > 0 && flag !== true
      ? ["tool_call parts need include_server_side_tool_invocations."]
      : []),
    ...[...calls, ...responses].filter((part) =>
      typeof idOf(part) !== "string" || part.thoughtSignature === undefined
    )
      .map(() => "A tool_call or tool_response part misses its id or thought_signature."),
    ...calls.filter((call) => !responses.some((response) => idOf(response) === idOf(call)))
      .map((call) => `The tool_call ${idOf(call)} has no tool_response.`),
    ...responses.filter((response) => !calls.some((call) => idOf(response) === idOf(call)))
      .map((response) => `The tool_response ${idOf(response)} has no tool_call.`),
  ];
}

function contentProblems({ role, parts }: JsonObject, index: number, vertex: boolean): readonly string[] {
  const at = `contents[${index}]`;
  if (role !== "user" && role !== "model") return ["Please use a valid role: user, model."];
  const fields = listOf(parts).filter(isObject);
  if (fields.length === 0) return [`${at}.parts: must not be empty.`];
  return fields.flatMap((part, place) => partProblems(part, `${at}.parts[${place}]`, role, vertex));
}

const MEDIA = /^(?:image\/(?:png|jpeg|webp|heic|heif|gif)|application\/pdf|audio\/|video\/|text\/plain)/;

function partProblems(part: JsonObject, at: string, role: unknown, vertex: boolean): readonly string[] {
  const problems = [...unknownMembers(part, PART_MEMBERS, at)];
  const data = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "toolCall",
    "toolResponse",
  ]
    .filter((key) => part[key] !== undefined);
  if (data.length !== 1) {
    return [...problems, `${at}.data: required oneof field 'data' must have one initialized field`];
  }
  if (part.text === "") {
    problems.push(`${at}: Unable to submit request because it must have a text parameter.`);
  }
  const { inlineData: inline, functionCall: call, functionResponse: response } = part;
  if (isObject(inline)) {
    if (!MEDIA.test(String(inline.mimeType))) problems.push(`Unsupported MIME type: ${inline.mimeType}`);
    if (!isBase64(inline.data)) problems.push(`${at}.inline_data.data: Base64 decoding failed.`);
    if (inline.displayName !== undefined && !vertex) {
      problems.push(
        `Invalid JSON payload received. Unknown name "displayName" at '${at}.inline_data': Cannot find field.`,
      );
    }
  }
  if (call !== undefined && role !== "model") {
    problems.push("Function calls must be in a content with the role model.");
  }
  if (isObject(call) && (!isToolName(call.name) || !isObject(call.args))) {
    problems.push(`${at}.function_call: a name and an object of args are required.`);
  }
  if (response !== undefined && role !== "user") {
    problems.push("Function responses must be in a content with the role user.");
  }
  if (isObject(response) && (!isToolName(response.name) || !isObject(response.response))) {
    problems.push(`${at}.function_response: a name and an object as response are required.`);
  }
  return problems;
}

/**
 * Returns problems in the order of the contents. Calls must come after a user turn or after responses; each call needs
 * one response; and the last content must not be the model's.
 */
function orderProblems(contents: readonly JsonObject[]): readonly string[] {
  const problems: string[] = [];
  contents.forEach((content, index) => {
    const calls = members(content, "functionCall");
    const responses = members(content, "functionResponse");
    if (calls.length > 0 && contents[index - 1]?.role !== "user") {
      problems.push(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    }
    const asked = members(contents[index - 1], "functionCall");
    if (responses.length !== asked.length) {
      problems.push(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the " +
          "function call turn.",
      );
    } else if (responses.some(({ name }) => !asked.some((call) => call.name === name))) {
      problems.push("Please ensure that the names of function responses are those of the function calls.");
    }
  });
  const last = contents.at(-1);
  if (last?.role === "model") {
    problems.push("Please ensure that multiturn requests end with a user role or a function response.");
  }
  return problems;
}

function members(content: JsonObject | undefined, key: string): readonly JsonObject[] {
  return listOf(content?.parts).filter(isObject).map((part) => part[key]).filter(isObject);
}

/**
 * Returns problems of signatures. In the current turn, the first call of each step must be signed, with base64 or one
 * of the stand-ins.
 */
function signatureProblems(
  contents: readonly JsonObject[],
  isFromElsewhere: (signature: unknown) => boolean,
): readonly string[] {
  const present = contents.findLastIndex((content) =>
    content.role === "user" && listOf(content.parts).some((part) => isObject(part) && part.text !== undefined)
  );
  return contents.flatMap((content, index) => {
    const parts = listOf(content.parts).filter(isObject);
    const first = parts.findIndex((part) => part.functionCall !== undefined);
    const missing = index > present && first >= 0 && parts[first]!.thoughtSignature === undefined
      ? [
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work " +
        `correctly. Function call position ${first + 1}.`,
      ]
      : [];
    const wrong = parts.filter(({ thoughtSignature: signature }) =>
      signature !== undefined && !STAND_INS.includes(String(signature)) &&
      (!isBase64(signature) || isFromElsewhere(signature))
    );
    return [...missing, ...wrong.map(() => "Corrupted thought signature.")];
  });
}

/** True if another account or model made a signature. */
function isForeign(signature: unknown, asked: Asked): boolean {
  const sealed = readSealed(signature);
  return sealed !== null &&
    (sealed.account !== requestAccount(asked) || sealed.model !== modelOf(asked.path));
}
