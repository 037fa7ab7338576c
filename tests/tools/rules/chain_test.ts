// Rules in the chain of approval: which layers may say them, what they outrank and what outranks them.

import assert from "node:assert/strict";
import { inWorld } from "../../config/world.ts";
import { bash, decisions, FENCE, open } from "./calls.ts";

Deno.test("rules of the person's settings approve, ask and deny", async () => {
  const settings = "{ auto_approve: [], rules: [{ approve: bash, command: git log ** }, " +
    "{ ask: bash, command: git push ** }, { deny: bash, command: sudo **, reason: not here }, { deny: write }] }";
  assert.deepEqual(
    await decisions([
      bash("git log -1"),
      bash("git push"),
      bash("sudo ls"),
      bash("ls"),
      'write {"path":"a","content":""}',
      'read {"path":"a"}',
    ], { settings }),
    [
      "approve by approve-rules",
      "require_approval by rules",
      "deny by rules",
      "require_approval by default",
      "deny by rules",
      "require_approval by default",
    ],
  );
});

Deno.test("a question or a denial by a rule outranks every list, preset, name for this run and the catch-all", async () => {
  const settings = "{ auto_approve: [bash, write], require_approval: false, rules: [" +
    "{ ask: bash, command: git push ** }, { deny: write, path: secret/** }] }";
  assert.deepEqual(
    await decisions([
      bash("git push --dry-run"),
      bash("ls"),
      'write {"path":"secret/a","content":""}',
      'write {"path":"a","content":""}',
    ], {
      settings,
      approve: ["bash"],
      block: `${FENCE}json\n{"flemma":{"tools":{"auto_approve":["bash","write"]}}}\n${FENCE}\n\n`,
    }),
    ["require_approval by rules", "approve by frontmatter", "deny by rules", "approve by frontmatter"],
  );
});

Deno.test("an approval by a rule never outranks a denial by a list or a preset", async () => {
  const settings =
    "{ auto_approve: [$no], presets: { $no: { deny: [bash] } }, rules: [{ approve: bash, command: ls }] }";
  assert.deepEqual(await decisions([bash("ls")], { settings }), ["deny by config"]);
});

Deno.test("short forms stand in lists, in presets and after --approve", async () => {
  const settings = '{ auto_approve: ["bash(git log **, git status)", "read(src/**)", $more], ' +
    'presets: { $more: { approve: ["bash(ls **)"], deny: ["bash(ls /etc)"] } } }';
  assert.deepEqual(
    await decisions([
      bash("git log -1 && git status && ls -l"),
      bash("ls /etc"),
      'read {"path":"src/a"}',
      'read {"path":"b"}',
      bash("pwd"),
      bash("pwd; rm x"),
    ], { settings, approve: ["bash(pwd)"] }),
    [
      "approve by approve-rules",
      "deny by rules",
      "approve by approve-rules",
      "require_approval by default",
      "approve by approve-rules",
      "require_approval by default",
    ],
  );
});

Deno.test("a document's rules ask and deny; what they approve is left out and told", async () => {
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
      'warning: "tools.rules" of a document may ask and deny, not approve; put approvals into your own settings.',
    ]);
  });
});

Deno.test("a document can neither take a rule of the person away nor set the list anew", async () => {
  for (const op of ['{"$remove":{"deny":"bash","command":"ls **"}}', "[]", '{"$remove":[{"deny":"bash"}]}']) {
    const block = `${FENCE}json\n{"flemma":{"tools":{"rules":${op}}}}\n${FENCE}\n\n`;
    assert.deepEqual(
      await decisions([bash("ls")], {
        settings: "{ auto_approve: [bash], rules: [{ deny: bash, command: ls ** }] }",
        block,
      }),
      ["deny by rules"],
      op,
    );
  }
});

Deno.test("a project's rules only restrict until somebody trusts it", async () => {
  const project = "{ rules: [{ approve: bash, command: pwd }, { deny: bash, command: ls ** }] }";
  const calls = [bash("pwd"), bash("ls")];
  const settings = "{ auto_approve: [] }";
  assert.deepEqual(await decisions(calls, { settings, project }), [
    "require_approval by default",
    "deny by rules",
  ]);
  assert.deepEqual(
    await decisions(calls, { settings, project, trusted: true }),
    ["approve by approve-rules", "deny by rules"],
  );
});

Deno.test("rules of every layer count together", async () => {
  const settings = "{ auto_approve: [], rules: [{ approve: bash, command: pwd }] }";
  const project = "{ rules: [{ approve: bash, command: ls }, { deny: bash, command: rm ** }] }";
  const block =
    `${FENCE}json\n{"flemma":{"tools":{"rules":{"$append":{"ask":"bash","command":"pwd"}}}}}\n${FENCE}\n\n`;
  assert.deepEqual(
    await decisions([bash("pwd"), bash("ls"), bash("rm x")], { settings, project, block, trusted: true }),
    ["require_approval by rules", "approve by approve-rules", "deny by rules"],
  );
});

Deno.test("where the document has a list of its own or took the tool out, rules of files approve nothing for it", async () => {
  const settings = "{ auto_approve: [read], rules: [{ approve: bash, command: pwd }] }";
  const stated = (value: string) =>
    `${FENCE}json\n{"flemma":{"tools":{"auto_approve":${value}}}}\n${FENCE}\n\n`;
  const calls = [bash("pwd")];
  const asked = (block: string, approve: string[] = []) => decisions(calls, { settings, block, approve });
  assert.deepEqual(await asked(stated('["read"]')), ["require_approval by default"]);
  assert.deepEqual(await asked(stated('{"$remove":"bash"}')), ["require_approval by default"]);
  assert.deepEqual(await asked(stated('{"$remove":"read"}')), ["approve by approve-rules"]);
  assert.deepEqual(await asked(stated('["read"]'), ["bash(pwd)"]), ["approve by approve-rules"]);
});

Deno.test("relative patterns belong to the project's folder, the document's folder or the working folder", async () => {
  const settings = "{ auto_approve: [], rules: [{ approve: read, path: mine/** }] }";
  const project = "{ rules: [{ approve: read, path: theirs/** }] }";
  assert.deepEqual(
    await decisions(['read {"path":"mine/a"}', 'read {"path":"theirs/a"}', 'read {"path":"others/a"}'], {
      settings,
      project,
      trusted: true,
    }),
    ["approve by approve-rules", "approve by approve-rules", "require_approval by default"],
  );
});

Deno.test("a denial tells the model which part and why, and who decided stands in the verdict", async () => {
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

Deno.test("lists that approve searching do not show what a rule keeps from being read", async () => {
  const calls = [
    'grep {"pattern":"x"}',
    'grep {"pattern":"x","path":"secret"}',
    "ls {}",
    'find {"pattern":"*"}',
  ];
  const settings = (profile: string, rule: string) => ({
    settings: `{ approval_profile: ${profile}, rules: [${rule}] }`,
  });
  const denied = "{ deny: read, path: ./secret/** }";
  assert.deepEqual(await decisions(calls, settings("v0.11", denied)), [
    "require_approval by rules",
    "deny by rules",
    "approve by config",
    "approve by config",
  ]);
  assert.deepEqual(
    await decisions(calls, settings("founding", "{ approve: [grep, ls, find], path: ./** }")),
    [
      "approve by approve-rules",
      "approve by approve-rules",
      "approve by approve-rules",
      "approve by approve-rules",
    ],
  );
  const taken = "{ approve: [grep, ls, find], path: [./**, '!./secret/**'] }";
  assert.deepEqual(await decisions(calls, settings("founding", taken)), [
    "require_approval by default",
    "require_approval by default",
    "require_approval by default",
    "require_approval by default",
  ]);
});
