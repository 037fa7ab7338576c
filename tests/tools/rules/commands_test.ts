// Rules about commands: patterns, what loosens them, and what rules that ask or deny match.

import assert from "node:assert/strict";
import { evaluate, placed, testInRepository as test, type Where } from "./policy.ts";

type Rules = Parameters<typeof evaluate>[0];

async function approves(rules: Rules | string, command: string, where: Where): Promise<boolean> {
  const list = typeof rules === "string" ? [{ approve: "bash", command: rules }] : rules;
  return (await evaluate(list, "bash", { command }, where)).approved;
}

async function restricts(rule: Rules[number], command: string, where: Where): Promise<string | undefined> {
  return (await evaluate([rule], "bash", { command }, where)).restriction?.decision;
}

test("a pattern can match words, one word, any characters in a word, any number of words, and quotes", async (folder) => {
  const rows: [pattern: string, command: string, fits: boolean][] = [
    ["git log", "git log", true],
    ["git log", "git log -1", false],
    ["git log **", "git log", true],
    ["git log **", "git log -1 --stat", true],
    ["git log *", "git log -1", true],
    ["git log *", "git log", false],
    ["git log *", "git log -1 -2", false],
    ["git log -*", "git log -5", true],
    ["git log v*.*", "git log v1.2", true],
    ["git log v*.*", "git log v12", false],
    ["git *", "git status", true],
    ["git *", "git config", false],
    ["git **", "git an-alias", false],
    ["git config **", "git config --list", true],
    ["echo 'a b' **", "echo 'a b' c", true],
    ["echo 'a b'", "echo a b", false],
    ["echo \\*", "echo '*'", true],
    ["echo \\*", "echo x", false],
    ["echo '*' **", "echo x", false],
    ["make test", "make test", true],
    ["make test", "make", false],
    ["echo *", 'echo "$x"', true],
    ["echo *", "echo $x", false],
    ["echo *", 'echo "$@"', false],
    ["echo **", 'echo "$@" $x *', true],
    ["echo x* **", 'echo "$x"', false],
    ["git log --output=f", "git log --output=f", true],
    ["git log --output=f **", "git log --output=f -1", true],
    ["git log --output=* **", "git log --output=g", false],
    ["sort -o out **", "sort -o out a", true],
    ["sort -o out **", "sort -o out -o other", false],
  ];
  for (const [pattern, command, fits] of rows) {
    assert.equal(await approves(pattern, command, { folder }), fits, `${pattern} of ${command}`);
  }
});

test("several rules may together approve the parts of one command", async (folder) => {
  const rules = [{ approve: "bash", command: "git log **" }, {
    approve: "bash",
    command: ["head **", "wc **"],
  }];
  assert.ok(await approves(rules, "git log | head -3; git log | wc -l", { folder }));
  assert.equal(await approves(rules.slice(0, 1), "git log | head -3", { folder }), false);
});

test("a program that runs other programs is approved with a wildcard only if the rule allows it", async (folder) => {
  const rule = { approve: "bash", command: "deno fmt **", allow_runner: true };
  assert.ok(await approves([rule], "deno fmt --check", { folder }));
  assert.equal(await approves([rule], "deno run x.ts", { folder }), false);
  assert.throws(
    () => placed({ approve: "bash", command: "deno fmt **" }),
    /approves everything that deno starts/,
  );
  for (const program of ["python3.11", "/usr/bin/env", "XARGS", "nodejs-20", "bash5"]) {
    const runs = program !== "nodejs-20";
    const read = () => placed({ approve: "bash", command: `${program} **` });
    if (runs) assert.throws(read, /approves everything that/, program);
    else assert.doesNotThrow(read, program);
  }
  assert.doesNotThrow(() => placed({ deny: "bash", command: "sudo **" }), "denying is no grant");
});

test("a command may set variables before it only if the rule lists them", async (folder) => {
  const rule = { approve: "bash", command: "git log **", env: ["TZ", "LANG"] };
  assert.ok(await approves([rule], "TZ=UTC LANG=C git log", { folder }));
  assert.equal(await approves([rule], "TZ=UTC GIT_PAGER=./x git log", { folder }), false);
  assert.equal(await approves([rule], "TZ=$(rm x) git log", { folder }), false);
  assert.equal(
    await approves([rule], "TZ=UTC; git log", { folder }),
    false,
    "alone it applies to what follows",
  );
  assert.equal(await approves([rule], "TZ+=x git log", { folder }), false);
  assert.equal(await approves([rule], "TZ=(a b) git log", { folder }), false);
});

test("if a rule has the field within, every argument and every redirection must stay inside those paths", async (folder) => {
  await Deno.symlink("/etc", `${folder}/src/etc`);
  const rule = {
    approve: "bash",
    command: ["cat **", "cd **", "sort **", "git log **"],
    within: ["./**", "!./docs/**"],
  };
  const inside = [
    "cat src/a.ts",
    "cat -n src/a.ts ./b",
    `cat ${folder}/src/a.ts`,
    "cat a > src/out",
    "cat a >> src/out 2>/dev/null",
    "cat < src/a.ts",
    "cd src && cat a.ts",
    "cd src && cat ../b",
    "cd src; cat a.ts",
    "git log main..dev",
    "cat --x=src/a",
    "cat -- -x",
  ];
  const outside = [
    "cat /etc/passwd",
    "cat ../x",
    "cat src/../../x",
    "cat src/etc/passwd",
    "cat docs/x",
    "cat ~/.ssh/id",
    "cat '~/x'",
    "cat $x",
    'cat "$x"',
    "cat *",
    "cat --x=/etc/passwd",
    "cat --x=../y",
    "cat -f/etc/passwd",
    "cat -f../y",
    "cat a=/etc/passwd",
    "cat a:/etc/passwd",
    "cat user@/etc/x",
    "cat -- -/../../x",
    "cat a > /tmp/x",
    "cat a > ../x",
    "cat a > docs/x",
    "cat a > src/etc/x",
    "cat < /etc/passwd",
    "cat a >| src/out",
    "cat a &> src/out",
    "cat a <> src/out",
    "cd src && cat ../../x",
    "cd /etc && cat passwd",
    "cd ..; cat x",
    "cd src/etc && cat passwd",
    "cd - && cat x",
    "cd && cat x",
    "cd $x && cat x",
    "cat /proc/self/environ",
    "cat a > /dev/stdout",
  ];
  for (const command of inside) assert.ok(await approves([rule], command, { folder }), command);
  for (const command of outside) assert.equal(await approves([rule], command, { folder }), false, command);
});

test("cd changes the folder for later commands only if it certainly runs before them", async (folder) => {
  await Deno.mkdir(`${folder}/src/deep`);
  const rule = { approve: "bash", command: ["cat **", "cd **", "pwd"], within: "./src/**" };
  const rows: [command: string, fits: boolean][] = [
    ["cd src && cat a", true],
    ["cd src && cd deep && cat a", true],
    ["cd src/deep && cat ../a", true],
    ["cd src || cat a", false],
    ["cd src; cat a", false],
    ["cd src & cat a", false],
    ["cd src | cat a", false],
    ["cat $(cd src) src/a", false],
    ["cat src/$(pwd)", false],
    ["pwd && cd src && cat a", true],
    ["pwd; cd src && cat a", true],
    ["cd src && pwd; cat a", false],
    ["cd src && pwd; cat src/a", true],
    ["cd src && pwd && cat a", true],
    ["cd src && cat a & cat src/b", true],
    ["cd src && cat a & cat b", false],
    ["cd src\ncat a", false],
    ["cd src\ncat src/a", true],
    ["cd missing && cat a", false],
  ];
  for (const [command, fits] of rows) {
    assert.equal(await approves([rule], command, { folder }), fits, command);
  }
});

test("a program is looked up in PATH, and not used from a folder where commands could have put it", async (folder) => {
  await Deno.mkdir(`${folder}/bin`);
  await Deno.writeTextFile(`${folder}/bin/ls`, "#!/bin/sh\n", { mode: 0o755 });
  const system = "/usr/bin:/bin";
  const rows: [path: string, fits: boolean][] = [
    [system, true],
    [`${folder}/bin:${system}`, false],
    [`${folder}/empty:${system}`, false],
    [`${system}:${folder}/bin`, true],
    [`.:${system}`, false],
    [`:${system}`, false],
    [`bin:${system}`, false],
    ["", false],
  ];
  for (const [path, fits] of rows) {
    assert.equal(await approves("ls **", "ls", { folder, path }), fits, path);
  }
  const builtin = await approves("echo **", "echo x", { folder, path: `${folder}/bin` });
  assert.ok(builtin, "what bash is itself is looked up nowhere");
  await Deno.symlink(`${folder}/bin/ls`, `${folder}/other/ls`);
  const where = { folder, path: `${folder}/other`, writable: [`${folder}/bin`] };
  assert.equal(await approves("ls **", "ls", where), false, "a link to where commands write");
});

test("if a command names a program by its path, the program must be the same file as in the pattern", async (folder) => {
  await Deno.writeTextFile(`${folder}/src/run.sh`, "#!/bin/sh\n", { mode: 0o755 });
  await Deno.writeTextFile(`${folder}/other/run.sh`, "#!/bin/sh\n", { mode: 0o755 });
  const rule = [{ approve: "bash", command: ["./src/run.sh **", "./run.sh", "cd **"] }];
  assert.ok(await approves(rule, "./src/run.sh a", { folder }));
  assert.equal(await approves(rule, "src/run.sh a", { folder }), false, "spelled otherwise");
  assert.equal(await approves(rule, "cd other && ./run.sh", { folder }), false, "another file there");
  assert.equal(await approves(rule, "cd $x && ./src/run.sh", { folder }), false, "at an unknown place");
  assert.equal(await approves("run.sh **", "./run.sh", { folder }), false, "a slash needs the slash");
});

test("rules about commands apply to bash and to no other shell", async (folder) => {
  const found = await evaluate([{ approve: "bash", command: "ls" }], "bash", { command: "ls" }, {
    folder,
    otherShell: "/usr/bin/zsh",
  });
  assert.equal(found.approved, false);
  assert.match(found.why ?? "", /rules can read only bash, and tools\.bash\.shell is \/usr\/bin\/zsh/);
});

test("a rule that denies a command finds it anywhere in a compound command", async (folder) => {
  const rule = { deny: "bash", command: ["git push **", "sudo **"] };
  const denied = [
    "git push",
    "git push origin main",
    "ls && git push",
    "ls; git push",
    "ls\ngit push",
    "(git push)",
    "{ git push; }",
    "if true; then git push; fi",
    "for x in a; do git push; done",
    "while read x; do git push; done",
    "case x in x) git push;; esac",
    "f() { git push; }; f",
    "! git push",
    "time git push",
    "echo $(git push)",
    'echo "$(git push)"',
    "echo `git push`",
    "cat <(git push)",
    "echo ${x:-$(git push)}",
    "x=$(git push)",
    "cat <<E\n$(git push)\nE",
    "bash <<E\ngit push\nE",
    "bash <<'E'\ngit push\nE",
    "bash <<< 'git push'",
    "sh -c 'git push'",
    "bash -lc 'ls; git push'",
    "eval git push",
    "eval 'git push'",
    "env git push",
    "env -i A=b git push",
    "env -u X git push",
    "env -S 'git push'",
    "A=b git push",
    "sudo ls",
    "command git push",
    "exec git push",
    "nohup git push &",
    "timeout 5 git push",
    "timeout -k 3 5 git push",
    "nice -n 5 git push",
    "setsid git push",
    "stdbuf -oL git push",
    "flock f git push",
    "xargs git push",
    "xargs -n 1 git push < f",
    "find . -exec git push \\;",
    "find . -name x -execdir git push {} +",
    "git -C x push",
    "git -c a=b push",
    "git --no-pager push",
    "/usr/bin/git push",
    "./git push",
    'g"i"t push',
    "\\git push",
    "git 'push'",
    "$'git' push",
    "git > f push",
    "watch git push",
    "trap 'git push' EXIT",
    "busybox sh -c 'git push'",
    "env sudo ls",
    "su -c 'git push' x",
    "git submodule foreach 'git push'",
    "git rebase -x 'git push' main",
    "git push\n)",
    "echo $(( $(git push) ))",
    "(( $(git push) ))",
    "[[ $(git push) ]]",
    "case $(git push) in x) ;; esac",
    "for x in $(git push); do :; done",
    "a=( $(git push) )",
    "echo ${a[$(git push)]}",
    'cat <<< "$(git push)"',
    "echo > $(git push)",
    "echo {a,$(git push)}",
    "echo @(a|$(git push))",
    "until git push; do :; done",
    "select x in a; do git push; done",
    "coproc git push",
    "function f { git push; }; f",
    "if x; then :; elif git push; then :; else :; fi",
    "git push & wait",
    "git\tpush",
    "command -p git push",
    "exec -a x git push",
    "env -C d git push",
    "sudo -u root -- git push",
    "nice -5 git push",
    "timeout --signal=KILL 5 git push",
    "xargs -I {} git push {}",
    "bash --norc -o errexit -c 'git push'",
    "find . -exec sh -c 'git push' \\;",
    "ssh host git push",
    "env sudo nohup timeout 3 nice git push",
  ];
  for (const command of denied) assert.equal(await restricts(rule, command, { folder }), "deny", command);
});

test("if a command cannot be recognized with certainty, a rule asks instead of denying", async (folder) => {
  const rule = { deny: "bash", command: ["git push **", "cat .env"] };
  const asked = [
    "$x push",
    "git $x",
    "git pu*",
    "$x",
    "cat .en?",
    'cat "$F"',
    "cat $(echo .env)",
    "cat .{env,x}",
    "echo git push | sh",
    "python3 -c 'import os; os.system(\"git push\")'",
    "perl -e 'exec qw(git push)'",
    'bash -c "$x git push"',
    'eval "$x; git push"',
    "cat 1<(git push)",
    "xargs git < f",
    "docker run x git push",
    "awk 'BEGIN { system(\"git push\") }'",
    'echo "git push" > f; source f',
  ];
  for (const command of asked) {
    assert.equal(await restricts(rule, command, { folder }), "require_approval", command);
  }
  const quiet = [
    "git pull",
    "git status",
    "echo git push",
    "cat a",
    "grep -r 'git push' .",
    "ls *.ts",
    "git log push",
  ];
  for (const command of quiet) assert.equal(await restricts(rule, command, { folder }), undefined, command);
});

test("the strictest rule decides, whatever the order of the rules", async (folder) => {
  const rules = [
    { approve: "bash", command: "git **" },
    { ask: "bash", command: "git push **" },
    { deny: "bash", command: "git push --force **", reason: "history is kept" },
  ];
  for (const order of [rules, [...rules].reverse()]) {
    const forced = await evaluate(order, "bash", { command: "git push --force" }, { folder });
    assert.equal(forced.restriction?.decision, "deny");
    assert.equal(forced.restriction?.rule.rule.reason, "history is kept");
    const pushed = await evaluate(order, "bash", { command: "git push" }, { folder });
    assert.equal(pushed.restriction?.decision, "require_approval");
    assert.ok(pushed.approved, "the place in the chain lets the question go first");
    const logged = await evaluate(order, "bash", { command: "git log" }, { folder });
    assert.equal(logged.restriction, null);
  }
});

test("a rule can match fields of the input, or a tool as a whole", async (folder) => {
  const found = async (rule: Rules[number], tool: string, input: Record<string, unknown>) => {
    const { approved, restriction } = await evaluate([rule], tool, input, { folder });
    return restriction?.decision ?? approved;
  };
  assert.equal(await found({ approve: "x", input: { mode: ["a", "b"] } }, "x", { mode: "b" }), true);
  assert.equal(await found({ approve: "x", input: { mode: ["a", "b"] } }, "x", { mode: "c" }), false);
  assert.equal(await found({ approve: "x", input: { mode: "a" } }, "x", {}), false);
  assert.equal(await found({ approve: "x", input: { at: { a: 1 } } }, "x", { at: { a: 1 } }), true);
  assert.equal(await found({ approve: "x", input: { on: true } }, "x", { on: "true" }), false);
  assert.equal(await found({ approve: ["x", "y"] }, "y", {}), true);
  assert.equal(await found({ ask: "*" }, "anything", {}), "require_approval");
  assert.equal(await found({ deny: "bash", input: { timeout: 600 } }, "bash", { timeout: 600 }), "deny");
  const both = { approve: "bash", command: "ls **", input: { timeout: 5 } };
  assert.equal(await found(both, "bash", { command: "ls", timeout: 5 }), true);
  assert.equal(await found(both, "bash", { command: "ls" }), false);
  assert.equal(await found(both, "bash", { command: "rm x", timeout: 5 }), false);
});
