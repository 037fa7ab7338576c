import assert from "node:assert/strict";
import { parse } from "../../parser/mod.ts";
import { conversationOf } from "../../prompt/mod.ts";

const partsOf = async (text: string) => await conversationOf(parse(new TextEncoder().encode(text)));

Deno.test("on a runtime without a file system, tags and references stay text, and no file is read", async () => {
  const text = "@You:\nSay {{ 1 + 1 }} of @./conversation_test.ts and {% if x %}y{% end %}\n";
  const prompt = await partsOf(text);
  assert.deepEqual(prompt.history.map(({ parts }) => parts), [[{ kind: "text", text: text.slice(6, -1) }]]);
  assert.deepEqual([prompt.diagnostics, prompt.blocked, prompt.files], [[], false, []]);
});

Deno.test("on a runtime without a file system, a result of the read tool that references a file is sent as text", async () => {
  const prompt = await partsOf(
    '@Assistant:\n**Tool Use:** `read` (`r1`)\n\n```json\n{"path":"a"}\n```\n\n' +
      "@You:\n**Tool Result:** `r1`\n\n```\n@./conversation_test.ts\n```\n",
  );
  const parts = prompt.history[1]!.parts;
  assert.equal(JSON.stringify(parts).includes("import assert"), false);
  assert.equal(JSON.stringify(parts).includes("@./conversation_test.ts"), true);
});

Deno.test("on a runtime without a file system, frontmatter is not run, and this is reported", async () => {
  const prompt = await partsOf("```yaml\nname: Ada\n```\n@You:\nHello\n");
  assert.deepEqual(prompt.diagnostics.map(({ code }) => code), ["frontmatter_unsupported"]);
  assert.equal(prompt.blocked, true);
  assert.equal(prompt.history.length, 1);
});
