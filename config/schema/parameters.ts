// Settings schema of request parameters: general ones, and the same for each provider.

import { isObject } from "../../base/is_object.ts";
import {
  BOOLEAN,
  type Group,
  group,
  natural,
  neutralKey,
  type Node,
  type SettingKey,
  STRING,
  type Type,
  word,
} from "./define.ts";

const LEVELS = ["minimal", "low", "medium", "high", "max"];

const DEFAULT_THINKING = { level: "high", foreign: "preserve" } as const;

function isLevel(level: unknown): boolean {
  return level === false || (typeof level === "number" && level >= 0) ||
    (typeof level === "string" && LEVELS.includes(level));
}

const thinkingType: Type = {
  is: "custom",
  ts: "Thinking",
  expected: `a level (${LEVELS.join(", ")}), a number of tokens, false, or { level, foreign }`,
  words: LEVELS,
  hint: (value) =>
    isObject(value) && typeof value.level === "string" && !LEVELS.includes(value.level)
      ? `"${value.level}" is no level`
      : undefined,
  accepts(value) {
    if (!isObject(value)) return false;
    const { level, foreign, ...rest } = value;
    return isLevel(level) && (foreign === "preserve" || foreign === "drop") && Object.keys(rest).length === 0;
  },
  members: {
    level: {
      is: "custom",
      ts: "ThinkingLevel",
      expected: `one of ${LEVELS.join(", ")}, a number of tokens or false`,
      words: LEVELS,
      accepts: isLevel,
      json: {},
    },
    foreign: word("preserve", "drop"),
  },
  json: {
    anyOf: [
      { enum: [...LEVELS, false] },
      { type: "number", minimum: 0 },
      {
        type: "object",
        properties: {
          level: { anyOf: [{ enum: [...LEVELS, false] }, { type: "number", minimum: 0 }] },
          foreign: { enum: ["preserve", "drop"] },
        },
        additionalProperties: false,
      },
    ],
  },
};

const maxTokensType: Type = {
  is: "custom",
  ts: "number | string",
  expected: 'a whole number of tokens above 0 or a share like "50%"',
  accepts: (value) =>
    (typeof value === "number" && Number.isInteger(value) && value > 0) ||
    (typeof value === "string" && /^\d+%$/.test(value)),
  json: { anyOf: [{ type: "integer", minimum: 1 }, { type: "string", pattern: "^[0-9]+%$" }] },
};

/** Parameters that every provider supports; a provider's own table may repeat each. */
export function generalParameters(own: boolean): Record<string, SettingKey> {
  const rest = (value: unknown) => (own ? { optional: true } : { default: value });
  return {
    max_tokens: neutralKey(
      maxTokensType,
      "Most tokens of a reply: a number, or a share of what the model can do.",
      {
        ...rest("50%"),
      },
    ),
    temperature: neutralKey(
      { is: "number", min: 0 },
      "Sampling temperature; left out of the request when unset.",
      {
        optional: true,
      },
    ),
    timeout: neutralKey(
      natural(),
      "Seconds of silence after which a request is given up; a reply may take as long as it likes. 0: never.",
      rest(300),
    ),
    connect_timeout: neutralKey(
      natural(),
      "Seconds in which the provider must take the connection; waiting for the reply does not count. 0: no limit.",
      rest(30),
    ),
    cache_retention: neutralKey(
      word("short", "long", "none"),
      "How long the provider keeps the prompt cached.",
      {
        ...rest("short"),
      },
    ),
    thinking: neutralKey(
      thinkingType,
      "How much the model thinks, and whether thinking of another provider is sent along.",
      {
        ...rest(DEFAULT_THINKING),
        record: true,
        long: (value) =>
          value === null || value === true || Array.isArray(value)
            ? value
            : isObject(value)
            ? { ...DEFAULT_THINKING, ...value }
            : { ...DEFAULT_THINKING, level: value },
      },
    ),
  };
}

function providerTable(name: string, own: Record<string, Node>): Group {
  return group(`Parameters for ${name} alone; they beat the general ones.`, {
    ...generalParameters(true),
    ...own,
  }, { holds: "written", ts: "ProviderParameters" });
}

const text = (doc: string, value?: string) =>
  neutralKey(STRING, doc, { optional: true, ...(value === undefined ? {} : { default: value }) });

const budget = neutralKey(natural(), "Tokens to think with; beats `thinking`.", { optional: true });

/** Parameter tables by provider; each name is also an alias at the top level. */
export const PROVIDER_TABLES: Readonly<Record<string, Group>> = {
  anthropic: providerTable("Anthropic", {
    thinking_budget: budget,
    effort: neutralKey(word("low", "medium", "high", "xhigh", "max"), "Sent as it is.", { optional: true }),
    binding: neutralKey(
      word("drop", "error", "off"),
      "Earlier thinking when text before it has changed: leave it out, send nothing, or send it and let the API decide.",
      { optional: true },
    ),
  }),
  openai: providerTable("OpenAI", {
    reasoning: text("Reasoning effort; beats `thinking`."),
    reasoning_summary: text("Kind of reasoning summary.", "auto"),
    experimental: group("Experiments of this provider.", {
      phase: neutralKey(BOOLEAN, "Label replayed messages with their phase.", { default: true }),
    }),
  }),
  vertex: providerTable("Vertex AI", {
    project_id: text("Google Cloud project; required by this provider."),
    location: text("Region.", "global"),
    thinking_budget: budget,
  }),
  gemini: providerTable("Gemini at AI Studio", { thinking_budget: budget }),
  moonshot: providerTable("Moonshot AI", { prompt_cache_key: text("Key of the prompt cache.") }),
  openai_chat: providerTable("Chat Completions servers, those of your own among them", {
    reasoning: text("Reasoning effort, sent as it is; beats `thinking` of this table."),
  }),
};
