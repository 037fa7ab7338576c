// Template tags: where they begin and end, and what they leave as text.

import assert from "node:assert/strict";
import { parse, type Segment } from "../../parser/mod.ts";

/** The segments of a You message: texts in quotes, tags as kind, code and trim marks. */
function read(text: string): string[] {
  const chat = parse(new TextEncoder().encode(`@You:\n${text}\n`));
  return chat.turns[0]!.segments.map(describe);
}

function describe(segment: Segment): string {
  if (segment.kind === "text") return JSON.stringify(segment.value);
  if (segment.kind !== "expression" && segment.kind !== "code") return segment.kind;
  return `${segment.kind}${segment.trimBefore ? "-" : ""}<${segment.code}>${segment.trimAfter ? "-" : ""}`;
}

Deno.test("a dash directly inside a delimiter trims white space and is not part of the code", () => {
  assert.deepEqual(read("{{- a -}}{%-b-%}"), ["expression-< a >-", "code-<b>-"]);
  assert.deepEqual(read("{{ - a - }}"), ["expression< - a - >"]);
  assert.deepEqual(read("{{-}}"), ["expression-<>"]);
});

Deno.test("Lua strings and comments hide a closing delimiter", () => {
  assert.deepEqual(read(`{{ 'it\\'s }}' }}.`), [`expression< 'it\\'s }}' >`, `"."`]);
  assert.deepEqual(read("{{ [[ }} ]] }}."), ["expression< [[ }} ]] >", `"."`]);
  assert.deepEqual(read("{% --[=[ %} ]] ]=] %}."), ["code< --[=[ %} ]] ]=] >", `"."`]);
  assert.deepEqual(read("{% -- %}\n%}."), ["code< -- %}\n>", `"."`]);
});

Deno.test("braces are counted in expression tags but not in code tags", () => {
  assert.deepEqual(read("{{ {{1}} }}"), ["expression< {{1}} >"]);
  assert.deepEqual(read("{% x = { %} }"), ["code< x = { >", `" }"`]);
});

Deno.test("if a tag is never closed, it and everything after it is text, including later tags", () => {
  assert.deepEqual(read(`a {{ "b }} {{ c }}`), [`"a "`, `"{{ \\"b }} {{ c }}"`]);
  assert.deepEqual(read("{{ [==[ ]] }}"), [`"{{ [==[ ]] }}"`]);
  assert.deepEqual(read("{{"), [`"{{"`]);
});

Deno.test("a single brace is text, and so is a delimiter that begins on the last byte of a text", () => {
  assert.deepEqual(read("{ {} %} }} {"), [`"{ {} %} }} {"`]);
});

Deno.test("positions of a tag are lines and byte columns, and its code has LF even in a CR LF document", () => {
  const chat = parse(new TextEncoder().encode("@You:\r\né {{ 1\r\n+ 2 }} x\r\n"));
  const tag = chat.turns[0]!.segments[1]!;
  assert.ok(tag.kind === "expression");
  assert.equal(tag.code, " 1\n+ 2 ");
  assert.deepEqual([tag.place.start, tag.startCol, tag.place.end, tag.endCol], [2, 4, 3, 6]);
  assert.equal(chat.text(tag.place.from, tag.place.to), "{{ 1\n+ 2 }}");
});

Deno.test("a tag cannot span a tool result", () => {
  const kinds =
    parse(new TextEncoder().encode("@You:\n{{\n**Tool Result:** `a`\n```\n```\n}}\n")).turns[0]!.segments;
  assert.deepEqual(kinds.map(describe), [`"{{"`, "tool_result", `"}}"`]);
});
