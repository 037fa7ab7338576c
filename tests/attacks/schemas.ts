// Input schemas that attack: they take exponential time, exceed the stack, or are too large for any model.

const range = (count: number) => Array.from({ length: count }, (_, at) => at);
const named = (count: number, value: (at: number) => unknown) =>
  Object.fromEntries(range(count).map((at) => [`a${at}`, value(at)]));
const object = { type: "object" };

function nested(count: number, around: (inner: unknown) => unknown): unknown {
  let value: unknown = object;
  for (const _ of range(count)) value = around(value);
  return value;
}

/** A chain of definitions, each of which refers twice to the next one. */
const chain = (keyword: string, around = (inner: unknown) => inner) => ({
  ...object,
  $ref: "#/$defs/a0",
  $defs: {
    ...named(60, (at) => {
      const next = around({ $ref: `#/$defs/a${at + 1}` });
      return keyword === "if" ? { if: next, then: next, else: next } : { [keyword]: [next, next] };
    }),
    a60: object,
  },
});

/** An expression that must not be compiled, or be searched in a long text. */
const matched = (pattern: string, text: string) =>
  [{ ...object, properties: { a: { type: "string", pattern } } }, { a: text }] as const;

const WORD = "a".repeat(20_000);

/** A schema, an input for it, and what is said about them. */
export type HostileSchema = readonly [name: string, schema: unknown, input: unknown, said: RegExp];

const SLOW = /cannot be checked against the input schema: the check takes too long/;
const STACK = /call stack/i;
const LARGE = /input schema is too large/;
const LEVELS = /more than 100 levels/;
const NOTHING = /^$/;

export const HOSTILE: readonly HostileSchema[] = [
  ["all of two references, 60 times", chain("allOf"), {}, SLOW],
  [
    "any of two references that fail, 60 times",
    {
      ...chain("anyOf"),
      $defs: { ...chain("anyOf").$defs, a60: { required: ["x"] } },
    },
    {},
    SLOW,
  ],
  ["one of two references, 60 times", chain("oneOf"), {}, SLOW],
  ["conditions of references, 60 times", chain("if"), {}, SLOW],
  ["negated references, 60 times", chain("allOf", (inner) => ({ not: inner })), {}, SLOW],
  [
    "a recursion that doubles with each level of the input",
    {
      ...object,
      $ref: "#/$defs/a",
      $defs: { a: { properties: { x: { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } } } },
    },
    nested(60, (x) => ({ x })),
    SLOW,
  ],
  ["a reference to itself", { ...object, $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, {}, STACK],
  ["a part that is the whole", { ...object, allOf: [{ $ref: "#" }] }, {}, STACK],
  [
    "a part that is the whole by an anchor",
    {
      ...object,
      $dynamicAnchor: "n",
      allOf: [{ $dynamicRef: "#n" }],
    },
    {},
    STACK,
  ],
  [
    "a recursion into an input of 20,000 levels",
    {
      ...object,
      properties: { x: { $ref: "#" } },
    },
    nested(20_000, (x) => ({ x })),
    STACK,
  ],
  ["a remote reference", { ...object, $ref: "http://127.0.0.1:9/x.json" }, {}, /can't resolve reference/],
  ["a reference to a file", { ...object, $ref: "file:///etc/passwd" }, {}, /can't resolve reference/],
  ["a reference with a broken escape", { ...object, $ref: "#/$defs/%E0%A4%A" }, {}, /invalid/],
  ["an asynchronous schema", { ...object, $async: true, required: ["x"] }, {}, /\/x: is missing/],
  [
    "an asynchronous part",
    {
      ...object,
      properties: { x: { $ref: "#/$defs/a" } },
      $defs: { a: { $async: true, type: "string" } },
    },
    { x: 1 },
    /async schema/,
  ],
  ["50,000 levels of properties", nested(50_000, (a) => ({ ...object, properties: { a } })), {}, LEVELS],
  ["50,000 levels of lists", nested(50_000, (a) => ({ ...object, allOf: [a] })), {}, LEVELS],
  ["50,000 levels of a default", { ...object, default: nested(50_000, (a) => ({ a })) }, {}, LEVELS],
  ["50,000 properties", { ...object, properties: named(50_000, () => ({ type: "string" })) }, {}, LARGE],
  ["an enumeration of 200,000 values", { ...object, properties: { a: { enum: range(200_000) } } }, {}, LARGE],
  [
    "an enumeration of 15,000 values, all shown",
    {
      ...object,
      properties: { a: { enum: range(15_000) } },
    },
    { a: "x" },
    /^\/a: must be one of (?:\d+, ){30}and 14970 more$/,
  ],
  [
    "a constant of a megabyte, shown",
    {
      ...object,
      properties: { a: { const: "x".repeat(1_000_000) } },
    },
    { a: "y" },
    /^\/a: must be "x{199}…$/,
  ],
  [
    "a list of 20,000 unique tables",
    {
      ...object,
      properties: { a: { type: "array", uniqueItems: true } },
    },
    { a: range(20_000).map((at) => ({ at })) },
    SLOW,
  ],
  [
    "a list of 20,000 items, each one of 500",
    {
      ...object,
      properties: { a: { items: { anyOf: range(500).map((at) => ({ const: at })) } } },
    },
    { a: range(20_000).map(() => "x") },
    SLOW,
  ],
  ["nested repetition", ...matched("^(a+)+$", `${WORD}!`), /must match pattern/],
  ["nested repetition with lookahead", ...matched("^(?=(a+)+$)(a+)+$", `${WORD}!`), NOTHING],
  ["nested repetition with a backreference", ...matched("^((a+)+)\\1$", `${WORD}!`), NOTHING],
  ["counted repetition, 2,000 times", ...matched(`^${"a{0,20}".repeat(2000)}$`, `${WORD}!`), NOTHING],
  ["counted repetition, 200 times", ...matched(`^${"a{0,20}".repeat(200)}$`, `${WORD}!`), SLOW],
  ["nested counted repetition", ...matched("^(((a{0,90}){0,90}){0,90}){0,90}$", `${WORD}!`), NOTHING],
  ["an expression of a megabyte", ...matched("a?".repeat(500_000), `${WORD}!`), NOTHING],
  [
    "nested repetition for names",
    {
      ...object,
      patternProperties: { "^(a+)+$": { type: "string" } },
      additionalProperties: false,
    },
    { [`${WORD}!`]: 1 },
    /is not a parameter of this tool/,
  ],
  [
    "nested repetition for the names of members",
    {
      ...object,
      propertyNames: { pattern: "^(a+)+$" },
    },
    { [`${WORD}!`]: 1 },
    /must match pattern/,
  ],
  ["an invalid expression", ...matched("^(a", "a"), /invalid/],
  [
    "code in names",
    {
      ...object,
      properties: { 'a"+globalThis.PWNED()+"': { const: 'x");globalThis.PWNED();("' } },
      required: ["`${PWNED()}`", "\u2028", "'", "for(;;){"],
    },
    {},
    /^\/`\${PWNED\(\)}`: is missing\n/,
  ],
  [
    "a loop in a text",
    {
      ...object,
      properties: { a: { const: "for(;;){" }, b: { const: 'function validate0(a){"' } },
    },
    { a: "for(;;){", b: 'function validate0(a){"' },
    NOTHING,
  ],
  [
    "the prototype of objects",
    JSON.parse(
      '{"type":"object","properties":{"__proto__":{"properties":{"polluted":{"default":true}}},' +
        '"constructor":{"type":"string"}},"$defs":{"__proto__":{"polluted":true}},"allOf":[{"properties":{"__proto__":{}}}]}',
    ),
    JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
    /\/constructor: must be string/,
  ],
];
