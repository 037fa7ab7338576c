// Tool names in requests: valid for every provider, and always mapped back to the right tool.

import assert from "node:assert/strict";
import * as fc from "fast-check";
import { toolName, wireName } from "../../providers/request/wire.ts";

const tool = (name: string) => ({ name, description: "", input_schema: {} });

Deno.test("a tool name that is too long ends with a hash of the whole name, and a shorter name stays readable", () => {
  const long = `server:${"get_all_the_things_".repeat(6)}`;
  assert.match(wireName(long), /^server__get_all_the_things_.{28}_[0-9a-f]{8}$/);
  assert.notEqual(wireName(`${long}a`), wireName(`${long}b`));
  assert.equal(wireName(`s:${"x".repeat(61)}`), `s__${"x".repeat(61)}`);
  assert.equal(wireName(`s:${"x".repeat(62)}`).length, 64);
  assert.equal(wireName("server:a.b/c d"), "server__a_b_c_d");
});

Deno.test("a name with dots, as newer versions of flemma.nvim write it, is sent like the same name with colons", () => {
  const offered = [tool("trello:list_boards")];
  assert.equal(wireName("trello.list_boards", offered), wireName("trello:list_boards", offered));
  assert.equal(toolName(wireName("trello.list_boards"), offered), "trello:list_boards");
  assert.equal(wireName("flemma.jobs.status"), "flemma__jobs__status");
  assert.equal(toolName("flemma__jobs__status", [tool("flemma.jobs.status")]), "flemma.jobs.status");
});

Deno.test("if two tool names would become equal, both get a hash at their end, whatever the order of the tools; other names get no hash", () => {
  const names = ["s:a b", "s:a/b", "s:other"];
  for (const order of [names, names.toReversed()]) {
    const offered = order.map(tool);
    const wire = names.map((name) => wireName(name, offered));
    assert.match(wire[0]!, /^s__a_b_[0-9a-f]{8}$/);
    assert.match(wire[1]!, /^s__a_b_[0-9a-f]{8}$/);
    assert.equal(wire[2], "s__other");
    assert.deepEqual(wire.map((name) => toolName(name, offered)), names);
  }
});

Deno.test("tool names of any kind become valid for every provider, stay unique, and can be converted back", () => {
  const name = fc.string({ unit: fc.constantFrom(..."ab:_./- é😀"), minLength: 1, maxLength: 140 });
  fc.assert(fc.property(fc.uniqueArray(name, { maxLength: 8 }), (names) => {
    const offered = names.map(tool);
    const wire = names.map((each) => wireName(each, offered));
    for (const each of wire) assert.match(each, /^[A-Za-z0-9_-]{1,64}$/);
    assert.equal(new Set(wire).size, names.length);
    assert.deepEqual(wire.map((each) => toolName(each, offered)), names);
  }));
});
