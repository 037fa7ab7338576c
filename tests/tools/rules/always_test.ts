// The rule that "always" writes: it approves exactly that call again, and nothing else.

import assert from "node:assert/strict";
import { checkedRule, proposeRule } from "../../../tools/approval/rules/propose.ts";
import { evaluate, partsFor, testInRepository as test } from "./policy.ts";

type Input = Readonly<Record<string, unknown>>;

async function proposed(name: string, input: Input, folder: string, sandboxed = true) {
  return await proposeRule({ name, input }, partsFor([], { folder, sandboxed }));
}

test("the rule offered for a command contains its words, for a file tool its path, and for any other tool the tool's name", async (folder) => {
  const rows: readonly (readonly [string, Input, Input])[] = [
    ["bash", { command: "git   status -s" }, { approve: "bash", command: ["git status -s"] }],
    ["bash", { command: "make test" }, { approve: "bash", command: ["make test"] }],
    ["bash", { command: `grep "it's *" 'a b' \\*` }, {
      approve: "bash",
      command: [`grep 'it'\\''s *' 'a b' '*'`],
    }],
    ["bash", { command: "echo '' '**'" }, { approve: "bash", command: ["echo '' '**'"] }],
    ["read", { path: "src/a[1]*.ts" }, { approve: "read", path: [`${folder}/src/a\\[1\\]\\*.ts`] }],
    ["write", { path: "docs/new.md", content: "x" }, { approve: "write", path: [`${folder}/docs/new.md`] }],
    ["calculator", { expression: "1" }, { approve: "calculator" }],
  ];
  for (const [name, input, expected] of rows) {
    for (const sandboxed of [true, false]) {
      const rule = await proposed(name, input, folder, sandboxed);
      const written = sandboxed ? { ...expected, sandboxed: true } : expected;
      assert.deepEqual(rule.ok ? rule.value.written : rule.problem, written, JSON.stringify(input));
      if (!rule.ok) continue;
      assert.ok((await evaluate([rule.value.written], name, input, { folder, sandboxed })).approved);
    }
  }
});

test("a rule for a compound command matches only its exact text, not a part and not another order", async (folder) => {
  const command = "cd src && rm -rf out";
  const rule = await proposed("bash", { command }, folder);
  assert.ok(rule.ok);
  assert.equal(
    rule.value.text,
    `approve bash(cd src, rm -rf out), only with command = "${command}", in the sandbox`,
  );
  for (const other of ["rm -rf out", "cd src", "rm -rf out && cd src", `${command} `, `${command}; ls`]) {
    const { approved } = await evaluate([rule.value.written], "bash", { command: other }, { folder });
    assert.equal(approved, false, other);
  }
});

test("a rule for one command does not approve a command with other words", async (folder) => {
  const rule = await proposed("bash", { command: "git log -1" }, folder);
  assert.ok(rule.ok);
  const cases = [
    "git log",
    "git log -1 -p",
    "git log -1; ls",
    "git log -1 > x",
    "git log -1 $X",
    "git log *",
  ];
  for (const command of cases) {
    assert.equal(
      (await evaluate([rule.value.written], "bash", { command }, { folder })).approved,
      false,
      command,
    );
  }
  const spaced = await evaluate(
    [rule.value.written],
    "bash",
    { command: " git  log -1 # again", timeout: 5 },
    { folder },
  );
  assert.ok(spaced.approved);
});

test("if no rule can approve a call, none is offered, and the reason is reported", async (folder) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["(ls)", /contains a subshell/],
    ["for i in a; do ls; done", /contains a for loop/],
    ["echo $X", /"echo \$X" contains words that the shell expands/],
    ["ls *.ts", /"ls \*\.ts" contains words that the shell expands/],
    ["ls > out", /: "ls > out": /],
    ["cat <<E\nx\nE", /contains/],
    ["", /it contains no command/],
    ["# nothing", /it contains no command/],
    ["'", /contains syntax that cannot be parsed/],
  ];
  for (const [command, reason] of rows) {
    const rule = await proposed("bash", { command }, folder);
    assert.equal(rule.ok ? "offered" : rule.problem.code, "rule-impossible", command);
    assert.match(rule.ok ? "" : rule.problem.message, reason, command);
  }
  for (const path of ["/proc/self/environ", "/dev/null"]) {
    const rule = await proposed("read", { path }, folder);
    assert.equal(rule.ok ? "offered" : rule.problem.code, "rule-impossible", path);
  }
});

test("a rule that a person types is accepted only if it approves the call", async (folder) => {
  const call = { name: "bash", input: { command: "git log -1" } };
  const parts = partsFor([], { folder });
  const codeOf = async (written: Input) => {
    const rule = await checkedRule(written, call, parts);
    return rule.ok ? rule.value.text : rule.problem.code;
  };
  assert.equal(await codeOf({ approve: "bash", command: "git log **" }), "approve bash(git log **)");
  assert.equal(await codeOf({ approve: "bash", command: "git show **" }), "rule-impossible");
  assert.equal(await codeOf({ approve: "read" }), "rule-impossible");
  assert.equal(await codeOf({ deny: "bash" }), "rule-invalid");
  assert.equal(await codeOf({ approve: "bash", comand: "x" }), "rule-invalid");
  assert.equal(await codeOf({ approve: "bash", command: "env **" }), "rule-invalid");
});

test("a rule that applies only inside the sandbox approves nothing without a sandbox", async (folder) => {
  const rule = { approve: "bash", command: "ls", sandboxed: true };
  const evaluated = (sandboxed: boolean, rules: readonly Input[]) =>
    evaluate(rules, "bash", { command: "ls" }, { folder, sandboxed });
  assert.ok((await evaluated(true, [rule])).approved);
  const outside = await evaluated(false, [rule]);
  assert.equal(outside.approved, false);
  assert.match(outside.why ?? "", /only in the sandbox/);
  assert.ok((await evaluated(false, [rule, { approve: "bash", command: "ls" }])).approved);
  assert.equal((await evaluated(false, [{ ...rule, command: "pwd" }])).why, "no rule approves it");
  assert.equal((await evaluated(false, [rule, { deny: "bash" }])).restriction?.decision, "deny");
});

test("the sandbox is not tested if no rule depends on it", async (folder) => {
  let asked = 0;
  const parts = partsFor([{ approve: "bash", command: "ls" }, { approve: "read", sandboxed: true }], {
    folder,
  });
  const { evaluateCall } = await import("../../../tools/approval/rules/evaluate.ts");
  const counting = { ...parts, isSandboxed: () => Promise.resolve(++asked > 0) };
  await evaluateCall("bash", { command: "ls" }, counting);
  assert.equal(asked, 0);
  await evaluateCall("read", { path: "src" }, counting);
  assert.equal(asked, 1);
});
