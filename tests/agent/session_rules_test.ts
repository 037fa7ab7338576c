// "Always" for one document until logout: what it writes, what it takes precedence over, and how it is undone.

import assert from "node:assert/strict";
import type { ChatSession } from "../../agent/types.ts";
import { type Asked, bash, FENCE, open } from "../tools/rules/calls.ts";
import { testInWorld as test } from "../config/world.ts";

const SETTINGS = { settings: "{ auto_approve: [] }" };

async function always(session: ChatSession, target: string): Promise<Readonly<Record<string, unknown>>> {
  const rule = await session.proposeRule(target);
  if (!rule.ok) throw new Error(rule.problem.message);
  const added = await session.addRule(rule.value.written);
  assert.ok(added.ok);
  return rule.value.written;
}

async function decisionsOf(session: ChatSession): Promise<string[]> {
  return (await session.calls()).map(({ decided: { decision, source } }) =>
    `${decision} by ${source.replace("urn:flemma:approval:", "")}`
  );
}

const ASKED = "require_approval by default";
const APPROVED = "approve by approve-rules";

test("a session rule takes effect immediately, in this session and the next, until it is removed", async (world) => {
  const calls = [bash("git log -1"), bash("git log -2"), 'read {"path":"a"}'];
  await using session = await open(world, calls, SETTINGS);
  assert.deepEqual(await decisionsOf(session), [ASKED, ASKED, ASKED]);
  const rule = await always(session, "c1");
  assert.deepEqual(rule, { approve: "bash", command: ["git log -1"] });
  assert.deepEqual(await decisionsOf(session), [APPROVED, ASKED, ASKED]);
  await always(session, "c3");
  await using next = await open(world, calls, SETTINGS);
  assert.deepEqual(await decisionsOf(next), [APPROVED, ASKED, APPROVED]);
  const rules = await next.rules();
  assert.deepEqual(rules.ok && rules.value.map(({ text }) => text), [
    "approve bash(git log -1)",
    `approve read(${world.project}/a)`,
  ]);
  assert.deepEqual(await next.removeRule(rule), { ok: true, value: true });
  assert.deepEqual(await decisionsOf(next), [ASKED, ASKED, APPROVED]);
  assert.deepEqual(await next.removeRule(rule), { ok: true, value: false });
});

test("a session rule that is given twice is stored once and removed once", async (world) => {
  await using session = await open(world, [bash("ls")], SETTINGS);
  const rule = await always(session, "c1");
  await always(session, "c1");
  const rules = await session.rules();
  assert.equal(rules.ok && rules.value.length, 1);
  await session.removeRule(rule);
  assert.deepEqual(await decisionsOf(session), [ASKED]);
});

test("a session rule adds to a document's own list, but never overrides rules that ask or deny", async (world) => {
  const stated = (value: unknown) =>
    `${FENCE}json\n${JSON.stringify({ flemma: { tools: value } })}\n${FENCE}\n\n`;
  const rows: readonly (readonly [Asked, string])[] = [
    [{ ...SETTINGS, block: stated({ auto_approve: ["read"] }) }, APPROVED],
    [{ ...SETTINGS, block: stated({ auto_approve: { $remove: "bash" } }) }, APPROVED],
    [
      { ...SETTINGS, block: stated({ rules: [{ ask: "bash", command: "ls" }] }) },
      "require_approval by rules",
    ],
    [{ settings: "{ auto_approve: [], rules: [{ deny: bash, command: ls }] }" }, "deny by rules"],
    [{ settings: "{ auto_approve: [$no], presets: { $no: { deny: [bash] } } }" }, "deny by config"],
    [{ ...SETTINGS, project: "{ rules: [{ ask: bash }] }" }, "require_approval by rules"],
  ];
  for (const [asked, expected] of rows) {
    await using session = await open(world, [bash("ls")], asked);
    const added = await session.addRule({ approve: "bash", command: ["ls"] });
    assert.ok(added.ok);
    assert.deepEqual(await decisionsOf(session), [expected], JSON.stringify(asked));
    await Deno.remove(`${world.project}/.flemma`, { recursive: true }).catch(() => {});
  }
});

test("a session rule given for a sandboxed call approves no call outside the sandbox", async (world) => {
  const inside = { settings: "{ auto_approve: [], auto_approve_sandboxed: false }", sandbox: true };
  await using session = await open(world, [bash("ls")], inside);
  const rule = await always(session, "c1");
  assert.deepEqual(rule, { approve: "bash", command: ["ls"], sandboxed: true });
  assert.deepEqual(await decisionsOf(session), [APPROVED]);
  await using outside = await open(world, [bash("ls")], { ...inside, sandbox: false });
  assert.deepEqual(await decisionsOf(outside), [ASKED]);
  await outside.removeRule(rule);
  assert.deepEqual(await always(outside, "c1"), { approve: "bash", command: ["ls"] });
  assert.deepEqual(await decisionsOf(outside), [APPROVED]);
});

test("a session rule applies only to its document, which must have a path", async (world) => {
  const { chatInMemory } = await import("../../agent/mod.ts");
  await using session = await open(world, [bash("ls")], SETTINGS);
  await always(session, "c1");
  const other = await chatInMemory(session.chat.bytes, {
    environment: world.environment(),
    path: `${world.project}/other.chat`,
  });
  assert.ok(other.ok);
  await using otherSession = other.value;
  assert.deepEqual(await decisionsOf(otherSession), [ASKED]);
  const unsaved = await chatInMemory(session.chat.bytes, { environment: world.environment() });
  assert.ok(unsaved.ok);
  await using unsavedSession = unsaved.value;
  const refused = await unsavedSession.addRule({ approve: "read" });
  assert.equal(refused.ok ? "added" : refused.problem.code, "usage");
  assert.deepEqual(await unsavedSession.rules(), { ok: true, value: [] });
  const wrong = await session.addRule({ approve: "*" });
  assert.equal(wrong.ok ? "added" : wrong.problem.code, "rule-invalid");
});

test("a session rule can also deny calls", async (world) => {
  await using session = await open(world, ['read {"path":"a"}'], { settings: "{ auto_approve: [read] }" });
  assert.ok((await session.addRule({ deny: "read", reason: "not today" })).ok);
  assert.deepEqual(await decisionsOf(session), ["deny by rules"]);
});
