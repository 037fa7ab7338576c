// Settings schema of one provider: a built-in one, a vendor, or an entry with a name of the person's own.

import { isObject } from "../../base/is_object.ts";
import {
  BOOLEAN,
  COMMAND,
  type Group,
  group,
  hostKey,
  key,
  natural,
  STRING,
  type Type,
  word,
} from "./define.ts";
import { modelFacts } from "./models.ts";

const address: Type = {
  is: "custom",
  ts: "string",
  expected: "an http or https URL",
  accepts: (value) => typeof value === "string" && isAddress(value.trim()),
  hint: (value) => {
    const text = typeof value === "string" ? value.trim() : "";
    const whole = `${NEARBY.test(text) ? "http" : "https"}://${text}`;
    return isAddress(whole) && !/:\/\//.test(String(value)) ? `write ${whole}` : undefined;
  },
  json: { type: "string", pattern: "^\\s*https?://" },
};

/** Hosts on this machine or the local network; such servers have no certificate. */
const NEARBY =
  /^(?:localhost|127\.|\[::1\]|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|[\w-]+(?:\.(?:local|lan))?:\d)/i;

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") && url.hostname !== "";
}

/** Matches names of variables. A name with small letters could be the key itself, which messages would then show. */
const VARIABLE = "^[A-Z_][A-Z0-9_]*$";

const variables: Type = {
  is: "custom",
  ts: "readonly string[]",
  expected: "the name of an environment variable in capitals, or a list of names",
  isSecret: true,
  accepts: (value) =>
    Array.isArray(value) && value.length > 0 &&
    value.every((name) => typeof name === "string" && new RegExp(VARIABLE).test(name)),
  hint: () => "settings contain no keys: set a variable to the key, and write the variable's name",
  json: {
    anyOf: [
      { type: "string", pattern: VARIABLE },
      { type: "array", items: { type: "string", pattern: VARIABLE }, minItems: 1 },
    ],
  },
};

/** Matches names of headers that may carry a secret, which settings must not contain. */
const SECRET_HEADER = /authorization|key|token|secret|password|cookie|credential/i;
/** Matches names of headers that the program or the connection sets. */
const FIXED_HEADER =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent|anthropic-version)$/i;

const isHeader = ([name, value]: [string, unknown]) =>
  /^[A-Za-z0-9-]+$/.test(name) && !SECRET_HEADER.test(name) && !FIXED_HEADER.test(name) &&
  typeof value === "string" && /^[\x20-\x7e]*$/.test(value);

const headers: Type = {
  is: "custom",
  ts: "Record<string, string>",
  expected: "a table of request headers",
  accepts: (value) => isObject(value) && Object.entries(value).every(isHeader),
  hint: (value) => {
    const [name] = (isObject(value) ? Object.entries(value) : []).find((entry) => !isHeader(entry)) ?? [];
    if (name === undefined) return undefined;
    if (SECRET_HEADER.test(name)) {
      return `${name} would carry a key, which settings must not contain: use key_env and auth`;
    }
    return FIXED_HEADER.test(name) ? `flemma sets ${name}` : `${name} is not a valid header`;
  },
  json: { type: "object", additionalProperties: { type: "string" } },
};

export const providerGroup: Group = group("Settings for one provider.", {
  base_url: hostKey(address, "Base URL of the API.", { optional: true }),
  models: hostKey(
    { is: "map", of: modelFacts },
    "Facts about models, by name, such as prices. `like` copies the facts of another model.",
    { optional: true },
  ),
  max_requests: key(
    natural(1),
    "Maximum parallel requests from one process, for all its documents together; no limit if unset.",
    { optional: true, who: ["G", "C"] },
  ),
  kind: hostKey(
    word("openai_chat", "openai", "anthropic"),
    "API of a vendor, or of an entry with a name of your own: Chat Completions, OpenAI's Responses API, or " +
      "Anthropic's Messages API.",
    { optional: true },
  ),
  auth: hostKey(
    word("bearer", "x-api-key", "api-key"),
    "Header with the key: `authorization: Bearer KEY`, `x-api-key` or `api-key`. If unset, `x-api-key` for " +
      "Anthropic's API and `bearer` otherwise.",
    { optional: true },
  ),
  key_env: hostKey(
    variables,
    "Environment variable with the key, or several in order. If unset, `NAME_API_KEY`, or those of the vendor.",
    { optional: true, long: (value) => typeof value === "string" ? [value] : value },
  ),
  key_command: hostKey(
    COMMAND,
    "Command that prints the API key as its first line: a shell command line, or a list of program and arguments.",
    { optional: true },
  ),
  key_ttl: hostKey(
    natural(1),
    "Seconds after which `key_command` runs again; if unset, the key is valid for the whole run.",
    { optional: true },
  ),
  headers: hostKey(
    headers,
    "Additional request headers, such as one that names a project. They cannot contain keys.",
    { optional: true },
  ),
  api_version: hostKey(
    {
      is: "custom",
      ts: "string",
      expected: "a day such as 2023-06-01",
      accepts: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value),
      json: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\d$" },
    },
    "Version of Anthropic's API (`anthropic-version`); `2023-06-01` if unset.",
    { optional: true },
  ),
  max_tokens_key: hostKey(
    word("max_tokens", "max_completion_tokens"),
    "Request field with the token limit for a Chat Completions server; `max_tokens` if unset.",
    { optional: true },
  ),
  reasoning_field: hostKey(
    STRING,
    "Message field that returns reasoning to a Chat Completions server. `<think>`: before the text, between such tags.",
    { optional: true },
  ),
  reasoning_back: hostKey(
    word("always", "tools", "never"),
    "Messages that return their reasoning to a Chat Completions server. If unset, `always`, except to vendors known to refuse it.",
    { optional: true },
  ),
  reasoning_key: hostKey(
    word("reasoning_effort", "reasoning", "thinking", "thinking_and_effort", "enable_thinking"),
    "Request field with the reasoning effort for a Chat Completions server; `reasoning_effort` if unset. `thinking` and " +
      "`enable_thinking` only switch thinking on or off.",
    { optional: true },
  ),
  parallel_tool_calls: hostKey(
    BOOLEAN,
    "Allow several tool calls in one reply of a Chat Completions server; if unset, the server decides.",
    { optional: true },
  ),
  extra_body: hostKey(
    { is: "map", of: { is: "any" } },
    "Additional request fields, for every kind of provider; of two objects, the members are merged.",
    { optional: true },
  ),
}, { ts: "ProviderSettings" });
