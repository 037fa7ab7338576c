// A session shows what the person would trust in a document, and applies trust immediately.

import assert from "node:assert/strict";
import { chatInMemory, type ChatSession, newChat, openChat } from "../../agent/mod.ts";
import { authorityIn, readStatedAuthority } from "../../agent/trust/agreement.ts";
import type { MemoryOptions } from "../../agent/types.ts";
import { authorityOf, findStatedAuthority } from "../../config/document/authority.ts";
import { LayerLog } from "../../config/layers/log.ts";
import { callsDocument } from "../cli/harness.ts";
import { testWithState as test } from "../folder.ts";

const BLOCK = "```lua\nflemma.opt.sandbox = false\nflemma.opt.tools.auto_approve = { 'bash' }\n```\n";
const CALL = callsDocument([{ id: "c1", command: "true" }]);

async function inMemory(text: string, options: MemoryOptions): Promise<ChatSession> {
  const opened = await chatInMemory(new TextEncoder().encode(text), options);
  assert.ok(opened.ok);
  return opened.value;
}

const decisionsOf = async (session: ChatSession) =>
  (await session.calls()).map(({ decided: { decision, source } }) => [decision, source.split(":").at(-1)]);

test("once a person trusts a document, its own policy decides, in this session and in the next one for the same path", async ({ environment }) => {
  const options = { environment, path: "a.chat" };
  await using session = await inMemory(BLOCK + CALL, options);
  assert.equal(session.doubts.length, 1);
  assert.deepEqual(await decisionsOf(session), [["require_approval", "trust"]]);
  const shown = await session.agreement();
  assert.ok(shown.ok && !shown.value.agreed);
  assert.equal(shown.value.lines.length, 2);
  assert.ok((await session.trust()).ok);
  assert.deepEqual(await decisionsOf(session), [["approve", "frontmatter"]]);
  assert.deepEqual(session.doubts, []);
  await using again = await inMemory(BLOCK + CALL, options);
  assert.deepEqual(await decisionsOf(again), [["approve", "frontmatter"]]);
  await using elsewhere = await inMemory(BLOCK + CALL, { environment, path: "b.chat" });
  assert.deepEqual(await decisionsOf(elsewhere), [["require_approval", "trust"]]);
});

test("a text without a path and frontmatter with an error cannot be trusted", async ({ environment }) => {
  await using nameless = await inMemory(BLOCK + CALL, { environment });
  assert.match(nameless.doubts[0] ?? "", /To trust it, save it or give its path with --name/);
  await using mistaken = await inMemory(BLOCK.replace("false", "'of'") + CALL, {
    environment,
    path: "a.chat",
  });
  for (const [session, code] of [[nameless, "usage"], [mistaken, "first-block-invalid"]] as const) {
    for (const found of [await session.agreement(), await session.trust()]) {
      assert.ok(!found.ok);
      assert.equal(found.problem.code, code);
    }
  }
});

test("an unreadable trust record counts as no trust, and the reason is reported", async ({ folder, environment }) => {
  Deno.mkdirSync(`${folder}/state/flemma`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/state/flemma/trust.json`, "{");
  await using session = await inMemory(BLOCK + CALL, { environment, path: "a.chat" });
  assert.deepEqual(await decisionsOf(session), [["require_approval", "trust"]]);
  assert.match(session.doubts[0] ?? "", /trust\.json is not valid JSON.*Remove/);
  const shown = await session.agreement();
  assert.ok(!shown.ok);
});

test("a document that flemma created is trusted if its frontmatter needs trust", async ({ folder, environment }) => {
  const made = await newChat("a.chat", { question: "Hello" }, { environment });
  assert.ok(made.ok);
  const opened = await openChat(`${folder}/a.chat`, { environment, readOnly: true });
  assert.ok(opened.ok);
  await using session = opened.value;
  const shown = await session.agreement();
  assert.deepEqual(shown.ok && shown.value, { lines: [], agreed: true });
});

Deno.test("the effects of frontmatter are described in the same way whether or not the module that reads settings is loaded", async () => {
  const off = [{ op: "set", path: ["sandbox", "enabled"], value: false }] as const;
  const files = new LayerLog("G", off);
  const frontmatter = { language: "lua", code: "x", from: 0, to: 1, start: 1, end: 1 };
  for (const logs of [[], [files], [files, new LayerLog("M", off)], [new LayerLog("M", [])]]) {
    for (const block of [null, frontmatter]) {
      assert.deepEqual(await authorityIn({ logs }, block), authorityOf(logs, block?.code ?? null));
      assert.deepEqual(
        await readStatedAuthority({ logs }, block),
        findStatedAuthority(logs, block?.code ?? null),
      );
    }
  }
});
