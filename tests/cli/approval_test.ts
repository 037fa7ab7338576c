// `flemma approval explain`, `flemma approval test` and the reasons in `flemma status --json`, run as a person would.

import assert from "node:assert/strict";
import { inWorld, type World } from "../config/world.ts";

const FENCE = "```";
const SETTINGS = `tools:
  auto_approve_sandboxed: false
  rules:
    - { approve: bash, command: ["git log **", "cat **"] }
    - { deny: bash, command: "git push **", reason: pushing is done by hand }
    - { ask: [write, edit], path: "**/package.json" }
`;

async function inProject(test: (world: World, settings: string) => Promise<void>): Promise<void> {
  await inWorld(async (world) => {
    const settings = `${world.home}/.config/flemma/config.yaml`;
    await world.write(settings, SETTINGS);
    const call = (id: string, tool: string, input: unknown) =>
      `**Tool Use:** \`${tool}\` (\`${id}\`)\n\n${FENCE}json\n${JSON.stringify(input)}\n${FENCE}\n\n`;
    await world.write(
      `${world.project}/talk.chat`,
      `@You:\nGo.\n\n@Assistant:\n${call("one", "bash", { command: "git log -1; touch /tmp/x" })}` +
        call("two", "bash", { command: "ls && git push origin" }) +
        call("three", "write", { path: "package.json", content: "" }),
    );
    await test(world, settings);
  });
}

Deno.test("the approval explain command shows each resolver's decision, each part of a command, and the line of the rule", async () => {
  await inProject(async (world, settings) => {
    const { code, out, err } = await world.run("approval", "explain", "talk.chat", "one");
    assert.equal(err, "");
    assert.equal(code, 0);
    assert.deepEqual(
      out.split("\n").map((line) => line.replaceAll(/ +/g, " ").trim()).filter((line) => line !== ""),
      [
        "one bash: $ git log -1; touch /tmp/x",
        "decision require_approval, by default: no rule matches",
        "110 rules pass no ask or deny rule matches",
        '100 config pass bash not in ["$default"] = read, write, edit',
        "90 frontmatter - the document does not set tools.auto_approve",
        `80 approve-rules pass part 1 "git log -1": ${settings}:4:7 approve bash(git log **, cat **)`,
        'part 2 "touch /tmp/x": no rule approves it',
        "25 sandbox pass tools.auto_approve_sandboxed is false",
      ],
    );
    assert.doesNotMatch(out, /urn:/, "no name that only programs need");
  });
});

Deno.test("approval explain --json and status --json report the same reasons, with file and line of the rule", async () => {
  await inProject(async (world, settings) => {
    const explained = JSON.parse((await world.run("approval", "explain", "talk.chat", "--json")).out);
    const { calls } = JSON.parse((await world.run("status", "talk.chat", "--json")).out);
    assert.deepEqual(explained.map(({ id }: { id: string }) => id), ["one", "two", "three"]);
    for (const [at, { tool, ...reasons }] of explained.entries()) {
      const { name, ...call } = calls[at];
      assert.equal(name, tool);
      for (const [member, value] of Object.entries(reasons)) assert.deepEqual(call[member], value, member);
    }
    const [one, two, three] = explained;
    assert.deepEqual(two.rule, {
      place: `${settings}:5:7`,
      file: settings,
      line: 5,
      text: "deny bash(git push **)",
      reason: "pushing is done by hand",
    });
    assert.equal(two.decision, "deny");
    assert.deepEqual(
      one.commands.map(({ text, rule }: { text: string; rule: unknown }) => [text, rule !== null]),
      [["git log -1", true], ["touch /tmp/x", false]],
    );
    assert.deepEqual(one.commands[1].words, ["touch", "/tmp/x"]);
    assert.deepEqual(three.path, {
      asked: `${world.project}/package.json`,
      real: `${world.project}/package.json`,
    });
    assert.equal(three.rule.line, 6);
    assert.equal(one.profile, "founding");
    assert.deepEqual(
      one.chain.map(({ priority, answer }: { priority: number; answer: string }) => [priority, answer]),
      [[110, "pass"], [100, "pass"], [90, "absent"], [80, "pass"], [25, "pass"]],
    );
  });
});

Deno.test("if no call has the given id, approval explain says so and writes nothing", async () => {
  await inProject(async (world) => {
    const before = await Deno.readTextFile(`${world.project}/talk.chat`);
    const { code, err } = await world.run("approval", "explain", "talk.chat", "nonesuch");
    assert.notEqual(code, 0);
    assert.match(err, /nonesuch/);
    assert.equal(await Deno.readTextFile(`${world.project}/talk.chat`), before);
  });
});

Deno.test("the approval test command applies current and trial rules to commands, and the strictest decision defines the exit code", async () => {
  await inProject(async (world, settings) => {
    const tried = (...words: string[]) => world.run("approval", "test", ...words);
    const approved = await tried("git log -1 | cat");
    assert.deepEqual([approved.code, approved.err], [0, ""]);
    assert.match(approved.out, new RegExp(`^approve {2}git log -1 \\| cat {3}${settings}:4:7 says approve`));
    const asked = await tried("git log", "git log; ls");
    assert.equal(asked.code, 3);
    assert.match(asked.out, /^ask {6}git log; ls {3}"ls": no rule approves it$/m);
    const denied = await tried("git log", "ls", "git push");
    assert.equal(denied.code, 1);
    assert.match(denied.out, /^deny {5}git push {3}.*pushing is done by hand$/m);
    assert.equal((await tried("--approve", "bash", "rm x")).out, "approve  rm x   by your settings\n");
    assert.equal((await tried("--rule", "bash(ls **)", "ls -l")).code, 0);
    assert.equal((await tried("--rule", "deny bash(cat **)", "cat a")).code, 1);
    assert.equal((await tried("--rule", '{"ask":"bash","command":"git log **"}', "git log")).code, 3);
    assert.equal((await tried("--tool", "write", "package.json")).code, 3);
    assert.equal((await tried("--tool", "write", "other")).code, 0);
  });
});

Deno.test("the approval test command refuses an invalid rule, tool or folder and says what to write instead", async () => {
  await inProject(async (world) => {
    const rows: [words: string[], stated: RegExp][] = [
      [["--rule", "bash(sudo **)", "ls"], /approves everything that sudo starts/],
      [["--rule", "bash", "ls"], /is not a rule[^]*Write it like bash\(git log \*\*\)/],
      [["--rule", "{", "ls"], /it is not JSON/],
      [["--tool", "nonesuch", "ls"], /There is no tool nonesuch/],
      [["--cwd", "missing", "ls"], /There is no folder missing/],
      [[], /Standard input has no command to test\.\n {2}Write one command per line/],
      [["--json"], /Standard input has no command to test\./],
    ];
    for (const [words, stated] of rows) {
      const { code, err } = await world.run("approval", "test", ...words);
      assert.equal(code, 2, words.join(" "));
      assert.match(err, stated);
    }
  });
});

Deno.test("approval test --json reports the same as approval explain for each command", async () => {
  await inProject(async (world) => {
    const { out, code } = await world.run("approval", "test", "--json", "git log", "ls");
    const [first, second] = JSON.parse(out);
    assert.equal(code, 3);
    assert.deepEqual([first.command, first.decision, first.rule.line], ["git log", "approve", 4]);
    assert.deepEqual([second.command, second.decision, second.rule], ["ls", "require_approval", null]);
  });
});

Deno.test("the event for a waiting call contains the same reasons as approval explain, and the model learns why a call was denied", async () => {
  await inProject(async (world) => {
    const explained = JSON.parse((await world.run("approval", "explain", "talk.chat", "--json")).out);
    const { out, code } = await world.run("advance", "talk.chat", "--json");
    assert.equal(code, 3);
    const events = out.trim().split("\n").map((line) => JSON.parse(line));
    const waiting = events.filter(({ event }) => event === "approval:pending");
    assert.deepEqual(waiting.map(({ id }) => id), ["one", "three"]);
    const [one] = waiting;
    for (const member of ["chain", "commands", "path", "rule", "detail"]) {
      assert.deepEqual(one[member], explained[0][member], member);
    }
    assert.equal(waiting[1].rule.text, "ask write, edit(**/package.json)");
    const text = await Deno.readTextFile(`${world.project}/talk.chat`);
    assert.match(text, /"git push origin" is not allowed \(git push \*\*\)\. Pushing is done by hand\./);
  });
});

Deno.test("the approval show command prints complete calls, and the change that a call would make to the current file", async () => {
  await inProject(async (world) => {
    await world.write(`${world.project}/package.json`, "{}\n");
    const all = await world.run("approval", "show", "talk.chat");
    assert.deepEqual([all.code, all.err], [0, ""]);
    assert.match(
      all.out,
      /^bash \(one\) {3}call 1, line 5\nin .*\ncommand: git log -1; touch \/tmp\/x\n\nbash \(two\)/,
    );
    assert.match(all.out, /^write \(three\) [^]*^! The file already exists[^]*^path: package\.json$/m);
    assert.match(all.out, /^--- package\.json\n\+\+\+ package\.json\n@@ -1 \+0,0 @@\n-\{\}$/m);
    const one = await world.run("approval", "show", "talk.chat", "two");
    assert.match(one.out, /^bash \(two\) {3}call 2, line \d+\nin .*\ncommand: ls && git push origin\n$/);
    const [call] = JSON.parse(
      (await world.run("approval", "show", "talk.chat", "--line", "5", "--json")).out,
    );
    assert.deepEqual([call.id, call.tool, call.number, call.parts[0].text], [
      "one",
      "bash",
      1,
      "git log -1; touch /tmp/x",
    ]);
    assert.match(call.text[0], /^bash \(one\)/);
    const none = await world.run("approval", "show", "talk.chat", "nine");
    assert.equal(none.code, 1);
    assert.match(none.err, /nine/);
  });
});

Deno.test("the approval show command escapes control characters, keeps line breaks, and reports if no call is open", async () => {
  await inProject(async (world) => {
    const input = JSON.stringify({ path: "a.txt", content: "one\n\u001b[31mtwo\u202e\n" });
    const call = `@Assistant:\n**Tool Use:** \`write\` (\`w\`)\n\n${FENCE}json\n${input}\n${FENCE}\n`;
    await world.write(`${world.project}/open.chat`, `@You:\nGo.\n\n${call}`);
    const { out } = await world.run("approval", "show", "open.chat");
    assert.match(out, /^\+one\n\+\\x1b\[31mtwo\\u202e$/m);
    const done = `@You:\nGo.\n\n${call}\n@You:\n\n**Tool Result:** \`w\`\n\n${FENCE}\nWrote it.\n${FENCE}\n`;
    await world.write(`${world.project}/done.chat`, done);
    assert.equal((await world.run("approval", "show", "done.chat")).out, "There are no open calls.\n");
  });
});

Deno.test("a call says that a search of the same reply runs even if the call is rejected, until the search has its result", async () => {
  await inWorld(async (world) => {
    const asked = (lines: string) =>
      `@You:\nGo.\n\n@Assistant:\n<server_tool anthropic:blocks="e30=">\n${lines}\n</server_tool>\n\n` +
      `**Tool Use:** \`bash\` (\`one\`)\n\n${FENCE}json\n{"command":"ls"}\n${FENCE}\n`;
    const shown = async (lines: string) => {
      await world.write(`${world.project}/talk.chat`, asked(lines));
      return (await world.run("approval", "show", "talk.chat")).out;
    };
    const says = /^! A search by the provider waits for this call\. .* even if you reject the call\.$/m;
    assert.match(await shown("web_search: deno"), says);
    assert.match(await shown("web_search: a\n1. A — https://a.b\nweb_fetch: https://a.b"), says);
    assert.doesNotMatch(await shown("web_search: deno\n1. A — https://a.b"), says);
    assert.doesNotMatch(await shown("web_search: deno\nError: unavailable"), says);
  });
});
