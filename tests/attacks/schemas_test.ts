// Attacks by input schemas and expressions that others write: nothing hangs, throws, reaches the network or changes a
// prototype.

import assert from "node:assert/strict";
import { repairSchema } from "../../providers/request/checks/schema.ts";
import type { JsonSchema, ToolInput } from "../../tools/definition.ts";
import { definitionsOf } from "../../tools/mcp/tool_list.ts";
import { checkDefinition } from "../../tools/registration/check.ts";
import { checkInput } from "../../tools/validate.ts";
import { HOSTILE } from "./schemas.ts";

for (const [name, schema, input, said] of HOSTILE) {
  Deno.test(`held: a schema with ${name} stops the program`, async () => {
    const tool = { name: "t", input_schema: schema as JsonSchema };
    assert.match((await checkInput(tool, input as ToolInput)).join("\n"), said);
    // deno-lint-ignore no-explicit-any -- the global is what an attack would set
    assert.deepEqual([({} as any).polluted, (globalThis as any).PWNED], [undefined, undefined]);
  });
}

Deno.test("held: a hostile schema stops the registration of a tool, the list of a server, or a request", () => {
  for (const [name, schema] of HOSTILE) {
    const registration = { name: "t", description: "", input_schema: schema as JsonSchema, strict: true };
    const checked = checkDefinition(registration, "t", "module", []);
    const [listed] = definitionsOf([{ name: "t", inputSchema: schema }], {
      server: "s",
      settings: {},
      runs: "inside",
      call: () => assert.fail(),
    });
    assert.equal(listed!.enabled !== false, checked.ok, name);
    if (!checked.ok) continue;
    const sent = JSON.stringify(repairSchema(checked.value.input_schema));
    assert.doesNotMatch(sent, /127\.0\.0\.1|etc\/passwd/, name);
  }
});
