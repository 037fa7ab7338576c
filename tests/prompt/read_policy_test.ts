// The policy about files is prepared before its first use for a document that includes files, and for no other.

import assert from "node:assert/strict";
import { parse } from "../../parser/mod.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { luaSession } from "../../prompt/template/document_lua.ts";

/** What was asked of the policy while the text was evaluated, in order. */
async function asked(text: string): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir({ prefix: "flemma-policy-" });
  try {
    await Deno.writeTextFile(`${folder}/a.txt`, "text");
    const environment = { cwd: folder, home: folder, variables: {} };
    const document = `${folder}/talk.chat`;
    const reported: string[] = [];
    let ready = false;
    const isReadable = (path: string) => {
      reported.push(`${ready ? "asked" : "asked too early"}: ${path.slice(folder.length + 1)}`);
      return true;
    };
    const lua = luaSession({ document, environment, isReadable, print: () => {} });
    await evaluateChat(parse(new TextEncoder().encode(text)), {
      document,
      environment,
      frontmatter: {
        variables: {},
        diagnostics: [],
        lua,
        isReadable,
        ready: () => {
          if (!ready) reported.push("ready");
          ready = true;
          return Promise.resolve();
        },
      },
    });
    return reported;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("for a document that includes no file, the policy is never prepared", async () => {
  assert.deepEqual(await asked("@You:\nWrite to me@example.org about ./a.txt\n"), []);
});

for (
  const [what, text] of [
    ["a reference in a message", "@You:\nLook at @./a.txt\n"],
    ["an include of a template", "@You:\n{{ include('a.txt') }}\n"],
    [
      "a reference in the result of a tool",
      '@You:\nq\n\n@Assistant:\n**Tool Use:** `read` (`x`)\n\n```json\n{"path":"a.txt"}\n```\n\n' +
      "@You:\n\n**Tool Result:** `x`\n\n```\n@./a.txt\n```\n",
    ],
  ] as const
) {
  Deno.test(`the policy is ready before it is queried about ${what}`, async () => {
    const reported = await asked(text);
    assert.equal(reported[0], "ready");
    assert.ok(reported.includes("asked: a.txt"), reported.join("; "));
    assert.ok(!reported.some((each) => each.includes("too early")));
  });
}
