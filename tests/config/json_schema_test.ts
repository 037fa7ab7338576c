// The JSON Schema for editors agrees with the program about whole files.

import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { fencesOf } from "../../scripts/gate/examples.ts";
import { settingsSchema } from "../../scripts/generate/settings/settings.ts";

const validate = new Ajv2020({ strict: false, allErrors: true }).compile(settingsSchema());
const wrong = (tree: unknown) => (validate(tree) ? [] : validate.errors!.map((error) => error.instancePath));

Deno.test("the JSON schema accepts every settings file shown in the manual, except those with mistakes", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/reference/configuration.md", import.meta.url));
  const files = fencesOf(page).filter(({ info }) => /^yaml file=/.test(info));
  assert.ok(files.length >= 12);
  for (const { info, body } of files) {
    const tree = parse(body) as Record<string, unknown>;
    // Editors do not know dotted names; the program does.
    for (const key of Object.keys(tree)) if (key.includes(".")) delete tree[key];
    if (info.includes("wrong.yaml")) {
      assert.deepEqual([...new Set(wrong(tree))].sort(), ["", "/tools/auto_aprove", "/tools/max_concurrent"]);
    } else if (info.includes("foreign.yaml")) {
      assert.deepEqual([...new Set(wrong(tree))].sort(), ["", "/sandbox"]);
    } else assert.deepEqual(wrong(tree), [], info);
  }
});

Deno.test("the JSON schema accepts short forms, operators, aliases and presets, but no wrong values or unknown keys", () => {
  for (
    const tree of [
      {
        thinking: false,
        sandbox: true,
        tools: ["bash"],
        anthropic: { thinking_budget: 5 },
        keymaps: { a: 1 },
      },
      {
        tools: { $remove: "write", auto_approve: { $append: ["bash"] }, autopilot: false, approve: ["read"] },
      },
      { presets: { $x: "openai gpt-5" }, tools: { presets: { $y: { deny: ["bash"] } }, auto_approve: null } },
      { model: { $set: "m" }, tools: null, sandbox: { policy: { network: { allow: ["a.example"] } } } },
    ]
  ) assert.deepEqual(wrong(tree), [], JSON.stringify(tree));
  for (
    const tree of [
      { modle: "x" },
      { parameters: { cache_retention: "shrt" } },
      { tools: { max_concurrent: -1 } },
      { tools: { presets: { yolo: {} } } },
      { sandbox: { policy: { network: "no" } } },
      { tools: { auto_approve: [1] } },
    ]
  ) assert.notDeepEqual(wrong(tree), [], JSON.stringify(tree));
});
