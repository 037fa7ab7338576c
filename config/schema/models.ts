// Settings schema of models, each stored as one value, because model names contain dots.

import { isObject } from "../../base/is_object.ts";
import { natural, STRING, STRINGS, type Type, word } from "./define.ts";

const price: Type = { is: "number", min: 0 };

const PRICES: Readonly<Record<string, Type>> = {
  input: price,
  output: price,
  cache_read: price,
  cache_write: price,
  cache_write_long: price,
};

const prices: Type = {
  is: "custom",
  ts: "Record<string, number>",
  expected: "dollars per million tokens: { input, output, cache_read, cache_write, cache_write_long }",
  accepts: (value) =>
    isObject(value) && "input" in value && "output" in value &&
    Object.entries(value).every(([name, dollars]) =>
      Object.hasOwn(PRICES, name) && typeof dollars === "number" && dollars >= 0
    ),
  members: PRICES,
  hint: (value) =>
    isObject(value) && !("input" in value && "output" in value) ? "input and output are required" : undefined,
  json: {
    type: "object",
    properties: Object.fromEntries(Object.keys(PRICES).map((name) => [name, { type: "number", minimum: 0 }])),
    required: ["input", "output"],
    additionalProperties: false,
  },
};

const KINDS = ["adaptive", "effort", "budget", "switch", "none"];
const OFF_WORDS = ["disabled", "between_tools"];
const DAY = "^\\d{4}-\\d\\d-\\d\\d$";

const MEMBERS: Readonly<Record<string, Type>> = {
  like: STRING,
  context: natural(1),
  max_output: natural(1),
  thinking: word(...KINDS),
  efforts: STRINGS,
  thinking_off: word(...OFF_WORDS),
  ends: STRING,
  prices,
};

const isCount = (value: unknown) => typeof value === "number" && Number.isInteger(value) && value > 0;

const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  like: (value) => typeof value === "string" && value !== "",
  context: isCount,
  max_output: isCount,
  thinking: (value) => typeof value === "string" && KINDS.includes(value),
  efforts: (value) =>
    Array.isArray(value) && value.length > 0 &&
    value.every((word) => typeof word === "string" && word !== ""),
  thinking_off: (value) => typeof value === "string" && OFF_WORDS.includes(value),
  ends: (value) => typeof value === "string" && new RegExp(DAY).test(value),
  prices: (value) => prices.is === "custom" && prices.accepts(value),
};

export const modelFacts: Type = {
  is: "custom",
  ts: "ModelSetting",
  expected:
    "a table of facts about the model: { like, context, max_output, thinking, efforts, thinking_off, ends, prices }",
  accepts: (value) =>
    isObject(value) &&
    Object.entries(value).every(([name, fact]) => Object.hasOwn(CHECKS, name) && CHECKS[name]!(fact)),
  members: MEMBERS,
  json: {
    type: "object",
    properties: {
      like: { type: "string", minLength: 1 },
      context: { type: "integer", minimum: 1 },
      max_output: { type: "integer", minimum: 1 },
      thinking: { enum: KINDS },
      efforts: { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 },
      thinking_off: { enum: OFF_WORDS },
      ends: { type: "string", pattern: DAY },
      prices: prices.is === "custom" ? prices.json : {},
    },
    additionalProperties: false,
  },
};
