// Approval rules among the other resolvers: which layers may have them, and what takes precedence.

import assert from "node:assert/strict";
import type { Rule } from "../../../config/rules/rule.ts";
import { inWorld } from "../../config/world.ts";
import { bash, decideEach, FENCE, jsonBlock, open } from "./calls.ts";

Deno.test("rules in the person's settings approve, ask and deny", () => {
  const settings = "{ auto_approve: [], rules: [{ approve: bash, command: git log ** }, " +
    "{ ask: bash, command: git push ** }, { deny: bash, command: sudo **, reason: not here }, { deny: write }] }";
  return decideEach({ settings }, [
    [bash("git log -1"), "approve by approve-rules"],
    [bash("git push"), "require_approval by rules"],
    [bash("sudo ls"), "deny by rules"],
    [bash("ls"), "require_approval by default"],
    ['write {"path":"a","content":""}', "deny by rules"],
    ['read {"path":"a"}', "require_approval by default"],
  ]);
});

Deno.test("a rule that approves restricts nothing: other calls are decided as without it", () => {
  const calls = [bash("ls"), bash("git push"), 'read {"path":"a"}'];
  const each = (decision: string) => calls.map((call) => [call, decision] as const);
  return Promise.all([
    decideEach({
      settings: "{ auto_approve: [bash, read], rules: [{ approve: bash, command: git log ** }] }",
    }, [
      ...each("approve by config"),
    ]),
    decideEach({ settings: "{ auto_approve: [], rules: [{ approve: bash, command: git log ** }] }" }, [
      ...each("require_approval by default"),
    ]),
  ]).then(() => {});
});

/** A rule for each member: a call that it approves, if that depends on the member, and one that it does not. */
const MEMBERS: Readonly<
  Record<
    keyof Omit<Rule, "decision" | "tools" | "reason">,
    readonly [rule: string, fits: string | null, not: string]
  >
> = {
  command: ["approve: bash, command: ls", bash("ls"), bash("pwd")],
  path: ["approve: ls, path: a", 'ls {"path":"a"}', 'ls {"path":"b"}'],
  within: ["approve: bash, command: ls **, within: a", bash("ls a"), bash("ls b")],
  input: [
    "approve: calculator, input: { expression: 1 + 1 }",
    'calculator {"expression":"1 + 1"}',
    'calculator {"expression":"2"}',
  ],
  env: ["approve: bash, command: ls, env: A", bash("A=1 ls"), bash("B=1 ls")],
  allow_runner: ["approve: bash, command: env **, allow_runner: true", bash("env ls"), bash("ls")],
  sandboxed: ["approve: bash, command: ls, sandboxed: true", null, bash("ls")],
};

Deno.test("each member of a rule has its effect on what the rule approves: one row per member", async () => {
  for (const [rule, fits, not] of Object.values(MEMBERS)) {
    await decideEach({ settings: `{ auto_approve: [], auto_approve_risk: none, rules: [{ ${rule} }] }` }, [
      ...fits === null ? [] : [[fits, "approve by approve-rules"] as const],
      [not, "require_approval by default"],
    ]);
  }
});

Deno.test("a rule that asks or denies takes precedence over every list, every preset, every approval for this run, and the catch-all", () => {
  const settings = "{ auto_approve: [bash, write], require_approval: false, rules: [" +
    "{ ask: bash, command: git push ** }, { deny: write, path: secret/** }] }";
  const block = jsonBlock({ auto_approve: ["bash", "write"] });
  return decideEach({ settings, approve: ["bash"], block }, [
    [bash("git push --dry-run"), "require_approval by rules"],
    [bash("ls"), "approve by frontmatter"],
    ['write {"path":"secret/a","content":""}', "deny by rules"],
    ['write {"path":"a","content":""}', "approve by frontmatter"],
  ]);
});

Deno.test("an approval by a rule never takes precedence over a denial by a list or a preset", () => {
  const settings =
    "{ auto_approve: [$no], presets: { $no: { deny: [bash] } }, rules: [{ approve: bash, command: ls }] }";
  return decideEach({ settings }, [[bash("ls"), "deny by config"]]);
});

Deno.test("short forms of rules are accepted in lists, in presets and after --approve", () => {
  const settings = '{ auto_approve: ["bash(git log **, git status)", "read(src/**)", $more], ' +
    'presets: { $more: { approve: ["bash(ls **)"], deny: ["bash(ls /etc)"] } } }';
  return decideEach({ settings, approve: ["bash(pwd)"] }, [
    [bash("git log -1 && git status && ls -l"), "approve by approve-rules"],
    [bash("ls /etc"), "deny by rules"],
    ['read {"path":"src/a"}', "approve by approve-rules"],
    ['read {"path":"b"}', "require_approval by default"],
    [bash("pwd"), "approve by approve-rules"],
    [bash("pwd; rm x"), "require_approval by default"],
  ]);
});

Deno.test("a document's rules can ask and deny; rules in it that approve are dropped and reported", async () => {
  const block = `${FENCE}yaml\nflemma:\n  tools:\n    rules:\n      - { approve: bash, command: rm ** }\n` +
    `      - { deny: bash, command: ls ** }\n${FENCE}\n\n`;
  await inWorld(async (world) => {
    await using session = await open(world, [bash("rm x"), bash("ls")], {
      settings: "{ auto_approve: [bash] }",
      block,
    });
    const calls = await session.calls();
    assert.deepEqual(calls.map(({ decided }) => decided.decision), ["approve", "deny"]);
    const reported = session.document.diagnostics.map(({ message, severity }) => `${severity}: ${message}`);
    assert.deepEqual(reported, [
      'warning: "tools.rules" in a document may ask and deny, but not approve; put approvals into your own settings.',
    ]);
  });
});

Deno.test("a document can neither remove a rule of the person nor replace the list", async () => {
  const settings = "{ auto_approve: [bash], rules: [{ deny: bash, command: ls ** }] }";
  for (
    const rules of [{ $remove: { deny: "bash", command: "ls **" } }, [], { $remove: [{ deny: "bash" }] }]
  ) {
    await decideEach({ settings, block: jsonBlock({ rules }) }, [[bash("ls"), "deny by rules"]]);
  }
});

Deno.test("until the person trusts a project, its rules can only restrict", async () => {
  const project = "{ rules: [{ approve: bash, command: pwd }, { deny: bash, command: ls ** }] }";
  for (const trusted of [false, true]) {
    await decideEach({ settings: "{ auto_approve: [] }", project, trusted }, [
      [bash("pwd"), trusted ? "approve by approve-rules" : "require_approval by default"],
      [bash("ls"), "deny by rules"],
    ]);
  }
});

Deno.test("rules from all layers of settings apply together", () => {
  const settings = "{ auto_approve: [], rules: [{ approve: bash, command: pwd }] }";
  const project = "{ rules: [{ approve: bash, command: ls }, { deny: bash, command: rm ** }] }";
  const block = jsonBlock({ rules: { $append: { ask: "bash", command: "pwd" } } });
  return decideEach({ settings, project, block, trusted: true }, [
    [bash("pwd"), "require_approval by rules"],
    [bash("ls"), "approve by approve-rules"],
    [bash("rm x"), "deny by rules"],
  ]);
});

Deno.test("rules in settings files approve no tool for a document that has its own list or removed the tool", async () => {
  const settings = "{ auto_approve: [read], rules: [{ approve: bash, command: pwd }] }";
  const rows: readonly (readonly [auto_approve: unknown, approve: readonly string[], decision: string])[] = [
    [["read"], [], "require_approval by default"],
    [{ $remove: "bash" }, [], "require_approval by default"],
    [{ $remove: "read" }, [], "approve by approve-rules"],
    [["read"], ["bash(pwd)"], "approve by approve-rules"],
  ];
  for (const [auto_approve, approve, decision] of rows) {
    await decideEach({ settings, block: jsonBlock({ auto_approve }), approve }, [[bash("pwd"), decision]]);
  }
});

Deno.test("relative patterns start at the folder of the project or document that contains the rule, or else at the working folder", () => {
  const settings = "{ auto_approve: [], rules: [{ approve: read, path: mine/** }] }";
  const project = "{ rules: [{ approve: read, path: theirs/** }] }";
  return decideEach({ settings, project, trusted: true }, [
    ['read {"path":"mine/a"}', "approve by approve-rules"],
    ['read {"path":"theirs/a"}', "approve by approve-rules"],
    ['read {"path":"others/a"}', "require_approval by default"],
  ]);
});

Deno.test("a denial tells the model which part was denied and why, and the decision names its resolver", async () => {
  await inWorld(async (world) => {
    await using session = await open(world, [bash("ls && git push origin")], {
      settings: "{ rules: [{ deny: bash, command: git push **, reason: pushing is done by hand }] }",
    });
    const [call] = await session.calls();
    const path = `${world.home}/.config/flemma/config.yaml`;
    assert.equal(call?.decided.detail, `${path}:1:18 says deny bash(git push **): pushing is done by hand`);
    assert.equal(
      call?.decided.forModel,
      'This call was denied by policy and did not run: "git push origin" is not allowed (git push **). ' +
        "Pushing is done by hand.",
    );
    await session.advance();
    const { bytes } = session.chat;
    assert.match(new TextDecoder().decode(bytes), /"git push origin" is not allowed/);
  });
});

Deno.test("if a list approves search tools, they still cannot read files that a rule forbids to read", async () => {
  const searches = [
    'grep {"pattern":"x"}',
    'grep {"pattern":"x","path":"secret"}',
    "ls {}",
    'find {"pattern":"*"}',
  ];
  const under = (profile: string, rule: string, decided: readonly string[]) =>
    decideEach(
      { settings: `{ approval_profile: ${profile}, rules: [${rule}] }` },
      searches.map((call, at) => [call, decided[at] ?? decided[0]!]),
    );
  const denied = "{ deny: read, path: ./secret/** }";
  await under("v0.11", denied, [
    "require_approval by rules",
    "deny by rules",
    "approve by config",
    "approve by config",
  ]);
  await under("founding", "{ approve: [grep, ls, find], path: ./** }", ["approve by approve-rules"]);
  const taken = "{ approve: [grep, ls, find], path: [./**, '!./secret/**'] }";
  await under("founding", taken, ["require_approval by default"]);
});
