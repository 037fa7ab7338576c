// Known faults of similar programs, each as it would appear here.

import assert from "node:assert/strict";
import { bash, decideEach, jsonBlock } from "./calls.ts";
import { evaluate, evaluateCommand, inFolder, placed, testInRepository as test } from "./policy.ts";

type Rules = Parameters<typeof evaluate>[0];

async function approved(rules: Rules, commands: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  await inFolder(async (folder) => {
    for (const command of commands) {
      if ((await evaluate(rules, "bash", { command }, { folder })).approved) found.push(command);
    }
  });
  return found;
}

const rule = (...command: string[]): Rules => [{ approve: "bash", command }];

Deno.test("a compound command is decided part by part, not as one string", async () => {
  const separators = ["; ", " && ", " || ", " | ", " |& ", " & ", "\n"];
  const commands = separators.map((between) => `git log -1${between}touch /tmp/pwned`);
  assert.deepEqual(await approved(rule("git log **"), commands), []);
  assert.deepEqual(await approved(rule("git log **"), ["git log -1"]), ["git log -1"]);
});

Deno.test("a harmless first command does not approve what follows it", async () => {
  const commands = ["cd /tmp && python3 s.py", "cd /tmp; python3 s.py", "cd /tmp\npython3 s.py"];
  assert.deepEqual(await approved(rule("cd **"), commands), []);
});

Deno.test("the text that is checked equals the text that runs, whatever characters it contains", async () => {
  const between = ["\n", "\r", "\r\n", "\0", "\u2028", "\u2029", "\u0085", "\v", "\f"];
  assert.deepEqual(await approved(rule("pwd", "pwd **"), between.map((c) => `pwd${c}touch made`)), []);
  // Half a character reaches the shell as another one.
  assert.deepEqual(await approved(rule("pwd **"), ["pwd \ud83d", "pwd \udc00x", "pwd 🎉"]), ["pwd 🎉"]);
});

Deno.test("a text in which no command is recognized is not approved", async () => {
  const nothing = ["git diff --", "-", "", " ", "\n", "# only a comment", "\t# x\n\n"];
  assert.deepEqual(await approved(rule("pwd"), nothing), []);
  const settings = "{ auto_approve: [], rules: [{ ask: '*' }] }";
  await decideEach({ settings }, nothing.map((command) => [bash(command), "require_approval by rules"]));
});

Deno.test("the target of a redirection is checked", async () => {
  const commands = [">", ">>", ">|", "&>", "2>", "1>", "&>>", "<>"].map((to) => `env ${to} ../outside.txt`);
  const others = ["env | tee ../outside.txt", "env; cat > ../outside.txt << E\nx\nE"];
  assert.deepEqual(await approved(rule("env", "cat **"), [...commands, ...others]), []);
  assert.deepEqual(await approved(rule("env"), ["env", "env 2>/dev/null"]), ["env", "env 2>/dev/null"]);
});

test("ordinary substitutions are not refused outright, and a refusal names the obstacle", async (folder) => {
  assert.ok((await evaluateCommand("echo $(git log -1)", { folder })).approved);
  const { why } = await evaluateCommand("git log | tee x; echo", { folder });
  assert.equal(why, '"tee x": no rule approves it');
});

Deno.test("no built-in list approves programs that run other programs", async () => {
  const commands = [
    "find . -exec touch /tmp/p {} +",
    "env touch /tmp/p",
    'eval "$x"',
    "sh -c ls",
    "ls | xargs touch",
  ];
  assert.deepEqual(await approved(rule("find **", "env", "ls **", "echo **"), commands), []);
  await inFolder(async (folder) => {
    assert.equal((await evaluateCommand(commands[0]!, { folder })).approved, false);
  });
  // Behind a wildcard such a program would run anything, so no rule may say that without a word of its own.
  for (const program of ["awk", "gawk", "env", "eval", "sh", "xargs", "/usr/bin/python3.11"]) {
    assert.throws(
      () => placed({ approve: "bash", command: `${program} **` }),
      /approves everything that .* starts/,
    );
    placed({ approve: "bash", command: `${program} **`, allow_runner: true });
    placed({ deny: "bash", command: `${program} **` });
  }
});

Deno.test("if the person's rule asks, this takes precedence over the sandbox, and the question names the rule", () => {
  const settings = "{ rules: [{ ask: bash, command: git push ** }] }";
  const block = jsonBlock({ rules: [{ ask: "bash", command: "git pull **" }] });
  return decideEach({ settings, block, sandbox: true }, [
    [bash("git push --dry-run"), "require_approval by rules"],
    [bash("ls && git pull"), "require_approval by rules"],
  ]);
});
