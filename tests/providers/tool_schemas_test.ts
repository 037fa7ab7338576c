// Tool schemas that providers refuse are repaired, or their tool is left out; an error names the tool, not its place.

import assert from "node:assert/strict";
import { repairSchema, toolInError, usableTools } from "../../providers/request/checks/schema.ts";
import type { OfferedTool } from "../../providers/types.ts";
import { serve } from "./loopback.ts";
import { sendOnce } from "./send_once.ts";

const tool = (name: string, input_schema: Record<string, unknown>): OfferedTool => ({
  name,
  description: "A tool.",
  input_schema,
});
const TEXT = { type: "string" };
const object = (properties: object, rest: object = {}) => ({ type: "object", properties, ...rest });

Deno.test("a valid schema stays the same object", () => {
  const schemas = [
    object({ path: TEXT }, { required: ["path"], additionalProperties: false }),
    object({
      n: { type: ["integer", "null"], minimum: 0 },
      any: true,
      one: { anyOf: [TEXT, { type: "null" }] },
    }),
    object({ list: { type: "array", items: { $ref: "#/$defs/x" } } }, { $defs: { x: TEXT } }),
    { type: "object" },
  ];
  for (const schema of schemas) assert.equal(repairSchema(schema), schema, JSON.stringify(schema));
});

Deno.test("each part that providers refuse is repaired", () => {
  const rows: readonly (readonly [Record<string, unknown>, object])[] = [
    [{}, object({})],
    [{ properties: { a: TEXT } }, object({ a: TEXT })],
    [{ type: "string" }, object({})],
    [{ type: "object", properties: null }, object({})],
    [
      { anyOf: [object({ a: TEXT }, { required: ["a"] }), object({ b: TEXT }, { required: ["b"] })] },
      object({ a: TEXT, b: TEXT }),
    ],
    [
      {
        oneOf: [
          object({ a: TEXT }, { required: ["a"] }),
          object({ a: TEXT, b: TEXT }, { required: ["a", "b"] }),
        ],
      },
      object({ a: TEXT, b: TEXT }, { required: ["a"] }),
    ],
    [
      { allOf: [object({ a: TEXT }, { required: ["a"] }), object({ b: TEXT }, { required: ["b"] })] },
      object({ a: TEXT, b: TEXT }, { required: ["a", "b"] }),
    ],
    [
      { $ref: "#/$defs/x", $defs: { x: object({ a: TEXT }) } },
      object({ a: TEXT }, { $defs: { x: object({ a: TEXT }) } }),
    ],
    [object({ a: TEXT }, { not: {}, enum: [{}] }), object({ a: TEXT })],
    [object({ a: { type: "array" } }), object({ a: { type: "array", items: {} } })],
    [object({ a: { type: "array", items: [TEXT, {}] } }), object({ a: { type: "array", items: TEXT } })],
    [object({ a: { type: "text" } }), object({ a: {} })],
    [object({ a: { type: "string", enum: [] } }), object({ a: TEXT })],
    [object({ a: { type: "string", pattern: "(" } }), object({ a: TEXT })],
    [object({ a: { type: "string", required: true } }), object({ a: TEXT })],
    [object({ a: { type: "string", description: 5, minLength: -1 } }), object({ a: TEXT })],
    [object({ a: { $ref: "https://x/y" } }), object({ a: {} })],
    [object({ a: { anyOf: [] } }), object({ a: {} })],
    [object({ a: null }), object({ a: {} })],
  ];
  for (const [schema, repaired] of rows) {
    assert.deepEqual(repairSchema(schema), repaired, JSON.stringify(schema));
    assert.deepEqual(
      repairSchema(repaired as Record<string, unknown>),
      repaired,
      "a repaired schema needs no repair",
    );
  }
});

Deno.test("flemma leaves out a tool only for a provider that refuses its parameter names, and reports the reason", () => {
  const odd = tool("odd", object({ "a b": TEXT }));
  const good = tool("good", object({ a: TEXT }));
  const { tools, warnings } = usableTools([odd, good], "anthropic");
  assert.deepEqual(tools, [good]);
  assert.match(
    warnings.join(),
    /^The tool odd is left out: Anthropic does not accept the parameter name "a b"\.$/,
  );
  const offered = [odd, good];
  assert.equal(usableTools(offered, "openai").tools, offered, "an unchanged list stays the same");
  assert.deepEqual(usableTools(offered, "openai").warnings, []);
});

Deno.test("a tool is found by the place that an error names", () => {
  const names = ["a", "b", "c"];
  const rows = [
    ["tools.1.custom.input_schema: JSON schema is invalid", "b"],
    ["Invalid 'tools[2].function.parameters'", "c"],
    ["* GenerateContentRequest.tools[0].function_declarations[2].parameters: bad", "c"],
    ["tools.9: x", null],
    ["messages.1: x", null],
    ["mytools.1: x", null],
  ] as const;
  for (const [message, name] of rows) assert.equal(toolInError(message, names), name, message);
});

const GOOD = [
  { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "Well." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" } },
  { type: "message_stop" },
].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

Deno.test("a tool whose schema is refused anyway is left out of the repeated request, and named", async () => {
  const server = serve((body) => {
    const at = JSON.parse(body).tools.findIndex(({ name }: { name: string }) => name === "bad");
    return at < 0 ? { headers: { "content-type": "text/event-stream" }, body: GOOD } : {
      status: 400,
      body: JSON.stringify({
        error: {
          type: "invalid_request_error",
          message: `tools.${at}.custom.input_schema: JSON schema is invalid.`,
        },
      }),
    };
  });
  try {
    const { outcome } = await sendOnce("@You:\nhi\n", {
      provider: "anthropic",
      model: null,
      url: server.url,
      tools: () => [tool("zed", object({})), tool("bad", object({})), tool("ask", object({}))],
    });
    assert.ok(outcome.kind === "completed", JSON.stringify(outcome));
    assert.match(outcome.warnings.join(), /\(the tool bad\)\); flemma repeats it without the tool bad/);
    assert.deepEqual(JSON.parse(server.requests[1]!.body).tools.map(({ name }: { name: string }) => name), [
      "ask",
      "zed",
    ]);
  } finally {
    await server.close();
  }
});
