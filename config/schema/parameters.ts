// Settings schema of request parameters: general ones, and the same parameters for each provider.

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
      ? `"${value.level}" is not a level`
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
  expected: 'a whole number of tokens above 0, or a percentage such as "50%"',
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
      "Maximum tokens of a reply: a number, or a percentage of the model's maximum.",
      {
        ...rest("50%"),
      },
    ),
    temperature: neutralKey(
      { is: "number", min: 0 },
      "Sampling temperature; not sent if unset.",
      {
        optional: true,
      },
    ),
    timeout: neutralKey(
      natural(),
      "Seconds without data after which a request fails; the whole reply may take longer. 0 means no limit.",
      rest(300),
    ),
    connect_timeout: neutralKey(
      natural(),
      "Seconds to establish the connection; waiting for the reply does not count. 0 means no limit.",
      rest(30),
    ),
    cache_retention: neutralKey(
      word("short", "long", "none"),
      "How long the provider caches the prompt.",
      {
        ...rest("short"),
      },
    ),
    thinking: neutralKey(
      thinkingType,
      "How much the model thinks, and whether requests include thinking from other providers.",
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
  return group(`Parameters for ${name} only; they override the general ones.`, {
    ...generalParameters(true),
    ...own,
  }, { holds: "written", ts: "ProviderParameters" });
}

const text = (doc: string, value?: string) =>
  neutralKey(STRING, doc, { optional: true, ...(value === undefined ? {} : { default: value }) });

const budget = neutralKey(natural(), "Thinking budget in tokens; overrides `thinking`.", { optional: true });

/** Parameter tables by provider; each name is also an alias at the top level. */
export const PROVIDER_TABLES: Readonly<Record<string, Group>> = {
  anthropic: providerTable("Anthropic", {
    thinking_budget: budget,
    effort: neutralKey(
      word("low", "medium", "high", "xhigh", "max"),
      "Thinking effort; overrides `thinking`.",
      { optional: true },
    ),
    binding: neutralKey(
      word("drop", "error", "off"),
      "If the text before earlier thinking has changed: omit the thinking, send no request, or let the API decide.",
      { optional: true },
    ),
  }),
  openai: providerTable("OpenAI", {
    reasoning: text("Reasoning effort; overrides `thinking`."),
    reasoning_summary: text("Type of reasoning summary.", "auto"),
    experimental: group("Experimental features.", {
      phase: neutralKey(BOOLEAN, "Send earlier messages with their phase label.", { default: true }),
    }),
  }),
  vertex: providerTable("Vertex AI", {
    project_id: text("Google Cloud project; required."),
    location: text("Region.", "global"),
    thinking_budget: budget,
  }),
  gemini: providerTable("Gemini at AI Studio", { thinking_budget: budget }),
  moonshot: providerTable("Moonshot AI", { prompt_cache_key: text("Prompt cache key.") }),
  openai_chat: providerTable("Chat Completions servers, including your own,", {
    reasoning: text("Reasoning effort, sent unchanged; overrides `thinking` in this table."),
  }),
};
