// Wrong input on the command line, with real processes.

import assert from "node:assert/strict";
import { OTHER_NAMES } from "../../commands/line/suggestion.ts";
import { COMMANDS } from "../../commands/line/table.ts";
import { callsDocument, type Finished, type Scene, testWithScene as test, withScene } from "./harness.ts";

const ONE_LINE = /^flemma: [^\n]+\n( {2}[^\n]+\n)*$/;

function refused({ code, stdout, stderr }: Finished, exit: number, pattern: RegExp): void {
  assert.equal(code, exit, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, ONE_LINE);
  assert.match(stderr, pattern);
}

test("an unknown command or option is a usage error that suggests the nearest name", async (place) => {
  const [command, option, none] = await Promise.all([
    place.run(["advanse"]),
    place.run(["status", "a.chat", "--jsn"]),
    place.run(["qqqqqqqq"]),
  ]);
  refused(command, 2, /Did you mean advance\?/);
  refused(option, 2, /Did you mean --json\?/);
  refused(none, 2, /no command or file qqqqqqqq\.\n/);
});

test("if the first word is a question or another program's command, the error names the right command", async (place) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["What's 2+2?", /\. To ask that: flemma ask 'What'\\''s 2\+2\?'\n/],
    ["What is Node.js?", /To ask that: flemma ask 'What is Node\.js\?'\n/],
    ["run", /Did you mean advance\?/],
    ["chat", /Did you mean new\?/],
    ["login", /Did you mean auth set\?/],
    ["init", /Did you mean new\?/],
    ["search", /Did you mean list\?/],
    ["read", /Did you mean show\?/],
    ["constructor", /no command or file constructor\.\n/],
  ];
  await Promise.all(rows.map(async ([word, pattern]) => refused(await place.run([word]), 2, pattern)));
  for (const name of Object.values(OTHER_NAMES)) {
    assert.ok(COMMANDS.some((command) => command.name === name), `${name} is a command`);
  }
});

test("a line that looks like a role line is reported if the document cannot continue because of it", async (place) => {
  const answered = "@You:\nTell me.\n\n@Assistant:\nSo be it.\n\n";
  for (
    const written of [
      "@You",
      "@ You:",
      "  @You:",
      "**@You:**",
      "## @You:",
      "@You：",
      "@you",
      "You:",
      "@user:",
      "@Yuo",
    ]
  ) {
    const reported =
      `"${written}", does not start a message. Write only @You: on the line, without indentation.\n`;
    place.write("a.chat", `${answered}${written}\nAnd now?\n`);
    const [run, check] = await Promise.all([
      place.run(["advance", "a.chat"]),
      place.run(["check", "a.chat"]),
    ]);
    assert.equal(run.code, 3, written);
    assert.ok(run.stderr.includes(`\n  Line 7, ${reported}`), run.stderr);
    assert.ok(check.stdout.includes(` Line 7, ${reported}`), check.stdout);
    place.write("b.chat", `\n${written}\nAnd now?\n`);
    const none = await place.run(["advance", "b.chat"]);
    if (written !== "@user:") assert.ok(none.stderr.includes(`\n  Line 2, ${reported}`), none.stderr);
  }
  for (const stated of ["@alice", "Note:", "\\@You:", "You: are here", "@You:\\", "@You\n\n"]) {
    place.write("a.chat", `${answered}${stated}${stated.endsWith("\n") ? "" : "\nAnd now?"}\n`);
    const { stderr } = await place.run(["advance", "a.chat"]);
    assert.doesNotMatch(stderr, /does not start a message/, stated);
  }
});

test("if no call is pending, the next step of this document is named", async (place) => {
  const rows: readonly (readonly [string, string])[] = [
    [
      callsDocument([{ id: "c1", command: "true", status: "approved" }]),
      "Continue with: flemma advance a.chat",
    ],
    [
      "@You:\nHi.\n\n@Assistant:\nHello.\n\n@You:\n",
      "Write below the last @You:, then: flemma advance a.chat",
    ],
  ];
  for (const [text, next] of rows) {
    place.write("a.chat", text);
    for (const target of [[], ["--all"]]) {
      const { code, stderr } = await place.run(["approve", "a.chat", ...target]);
      assert.deepEqual([code, stderr], [1, `flemma: No call is pending.\n  ${next}\n`]);
    }
  }
});

test("a file where the second word of a command is missing is named as such", async (place) => {
  place.write("a.chat", "@You:\nHi.\n");
  refused(
    await place.run(["batch", "a.chat"]),
    2,
    /batch needs one of: batch send, [^\n]*, before a\.chat\.\n/,
  );
  refused(await place.run(["batch", "sned"]), 2, /There is no command batch sned\. Did you mean send\?\n/);
});

test("usage of a folder is refused as such, and names the command for all documents", async (place) => {
  await Deno.mkdir(place.path("chats"));
  refused(
    await place.run(["usage", "chats"]),
    1,
    /chats is a folder, not a document\.\n {2}For all documents: flemma usage\n/,
  );
});

test("an unreadable document is refused in one line that names it, and stays unchanged", async (place) => {
  await Deno.mkdir(place.path("folder.chat"));
  place.write("nul.chat", "@You:\n\0\n");
  place.write("latin1.chat", new Uint8Array([0x40, 0xe4, 0x0a]));
  const cases: readonly (readonly [string, RegExp])[] = [
    ["missing.chat", /There is no file missing\.chat/],
    ["folder.chat", /folder\.chat is a folder, not a document/],
    ["nul.chat", /nul\.chat: .*NUL/],
    ["latin1.chat", /latin1\.chat: .*not valid UTF-8/],
  ];
  await Promise.all(
    cases.map(async ([name, pattern]) => refused(await place.run(["advance", name]), 1, pattern)),
  );
  assert.equal(place.read("nul.chat"), "@You:\n\0\n");
  assert.deepEqual(Deno.readFileSync(place.path("latin1.chat")), new Uint8Array([0x40, 0xe4, 0x0a]));
});

Deno.test({
  name: "a file without read permission is refused",
  ignore: Deno.uid() === 0,
  fn: () =>
    withScene(async (place) => {
      place.write("a.chat", "@You:\nHi\n");
      await Deno.chmod(place.path("a.chat"), 0);
      refused(await place.run(["advance", "a.chat"]), 1, /a\.chat: .*permission/);
    }),
});

Deno.test({
  name: "a document without write permission is refused before anything runs or costs money",
  ignore: Deno.uid() === 0,
  fn: () =>
    withScene(async (place) => {
      const document = callsDocument([{ id: "c1", command: "touch ran", status: "approved" }]);
      place.write("a.chat", document);
      await Deno.chmod(place.path("a.chat"), 0o444);
      const { stderr } = await place.exits(1, ["advance", "a.chat"]);
      assert.match(
        stderr,
        /^flemma: a\.chat cannot be written: permission denied\.\n .*chmod u\+w a\.chat/,
      );
      assert.equal(place.read("a.chat"), document);
      assert.equal(place.exists("ran"), false);
    }),
});

test("the command suggested for a missing document creates that document", async (place) => {
  for (const file of ["plain.chat", "no folder/yet/a.chat"]) {
    const { stderr } = await place.run(["advance", file]);
    const [, command] = /^ {2}Create it: (.*)$/m.exec(stderr) ?? assert.fail(stderr);
    const made = await place.shell(command!);
    assert.equal(made.code, 0, made.stderr);
    assert.match(place.read(file), /^@You:$/m);
  }
  const { stderr } = await place.run(["new", "other folder/a.chat"]);
  const [, command] = /^ {2}Create it: (.*)$/m.exec(stderr) ?? assert.fail(stderr);
  assert.equal((await place.shell(command!)).code, 0);
  await place.exits(0, ["new", "other folder/a.chat"]);
});

test("the error for a file name that is not UTF-8 says so, and does not advise creating the file", async (place) => {
  const line = String.raw`name=$(printf 'caf\351.chat'); printf '@You:\nHi\n' > "$name"; flemma `;
  for (const command of ["status", "check", "advance"]) {
    refused(await place.shell(`${line}${command} "$name"`), 1, /not UTF-8, .*\n {2}Rename it, or/);
  }
  assert.equal((await place.shell('flemma parse < "$(echo caf*)"')).code, 0);
});

test("the error for a broken symbolic link says so, and does not advise creating the file", async (place) => {
  Deno.symlinkSync("gone", place.path("link.chat"));
  Deno.symlinkSync("gone folder", place.path("folder"));
  for (
    const [file, link, target] of [["link.chat", "link.chat", "gone"], [
      "folder/a.chat",
      "folder",
      "gone folder",
    ]]
  ) {
    const { stderr } = await place.exits(1, ["advance", file!]);
    assert.match(
      stderr,
      new RegExp(
        `There is no file ${file}: \\S+/${link} is a symbolic link to ${target}, which does not exist\\.`,
      ),
    );
    assert.doesNotMatch(stderr, /Make it/);
  }
});

test("both filters and reports say so if standard input cannot be read", async (place) => {
  for (const command of ["advance", "status", "check", "parse"]) {
    const { stdout, stderr } = await place.shell(`flemma ${command} < .; echo $?`);
    assert.equal(stdout, "1\n", command);
    assert.match(stderr, /^flemma: standard input cannot be read: [^\n]+\.\n$/, command);
  }
});

test("a file larger than 512 MB is refused unread, with advice", async (place) => {
  place.write("a.chat", "");
  await Deno.truncate(place.path("a.chat"), 2 ** 29 - 23);
  refused(
    await place.run(["advance", "a.chat"]),
    1,
    /larger than 512 MB, the maximum for a document\.\n.*flemma new/,
  );
});

test("if a document has no messages, flemma says so and exits with code 4", async (place) => {
  place.write("a.chat", "just text\n");
  const { stderr } = await place.exits(4, ["advance", "a.chat"]);
  assert.match(stderr, /has no message/);
  assert.equal(place.read("a.chat"), "just text\n");
});

test("broken or unknown settings stop the program with file, line and column and exit code 2", async (place) => {
  const document = callsDocument([{ id: "c1", command: "touch ran", status: "approved" }]);
  place.write("a.chat", document);
  const attempt = async (place: Scene, yaml: string) => {
    place.settings(yaml);
    const { stderr } = await place.exits(2, ["advance", "a.chat"]);
    assert.equal(place.read("a.chat"), document);
    assert.ok(!place.exists("ran"));
    return stderr;
  };
  assert.match(await attempt(place, "tools:\n  autopilot: [\n"), /config\.yaml:\d+:\d+: /);
  assert.match(await attempt(place, "tools:\n  auto_aprove: []\n"), /config\.yaml:2:\d+: .*auto_approve/);
  assert.match(
    await attempt(place, "tools:\n  max_concurrent: many\n"),
    /config\.yaml:2:\d+: .*max_concurrent/,
  );
});

test("the message for a missing key names the environment variable, and the document stays unchanged", async (place) => {
  place.write("a.chat", "@You:\nHi\n");
  refused(await place.run(["advance", "a.chat"]), 1, /ANTHROPIC_API_KEY/);
  assert.equal(place.read("a.chat"), "@You:\nHi\n");
});

test("check prints one line for each problem, and its exit code says whether one of them blocks a run", async (place) => {
  place.write("good.chat", "@You:\nHi\n");
  place.write("bad.chat", "@You:\nHi\n\n@Assistant:\n**Tool Use:** `bash` (`c1`)\n\n```json\n{\n```\n");
  const [good, both] = await Promise.all([
    place.run(["check", "good.chat"]),
    place.run(["check", "good.chat", "bad.chat"]),
  ]);
  assert.deepEqual([good.code, good.stdout], [0, ""]);
  for (const line of both.stdout.trimEnd().split("\n")) {
    assert.match(line, /^bad\.chat:\d+:\d+: (error|warning) \w+ \S/);
  }
  assert.match(both.stdout, /tool_use_invalid/);
});

test("reports work without a state folder, even if a file is in its place", async (place) => {
  place.write("a.chat", "@You:\nHi\n");
  place.write("f", "");
  const env = { XDG_STATE_HOME: place.path("f") };
  for (const line of ["recover --list", "usage", "status a.chat", "status --last", "undo --list a.chat"]) {
    const { code, stderr } = await place.run(line.split(" "), { env });
    assert.doesNotMatch(stderr, /Internal error|os error/, `${line}: exit ${code}\n${stderr}`);
  }
});

test("a state folder owned by root is reported together with the command that fixes it", async (place) => {
  place.write("a.chat", "@You:\nHi\n");
  Deno.symlinkSync("loop", place.path("loop"));
  const env = { XDG_STATE_HOME: place.path("loop"), XDG_RUNTIME_DIR: "" };
  for (const words of [["usage"], ["usage", "a.chat"], ["recover", "--list"], ["cancel", "a.chat"]]) {
    const { stderr } = await place.exits(1, words, { env });
    assert.match(
      stderr,
      /^flemma: Cannot use \S+\/loop\/flemma\/\S+: [^\n]+\.\n {2}Make yourself the owner of \S+\/loop\/flemma and its contents, or set XDG_STATE_HOME to another folder\.\n$/,
    );
  }
  for (const words of [["status", "a.chat"], ["check", "a.chat"], ["doctor"], ["tools", "list"]]) {
    const { stdout, stderr } = await place.run(words, { env });
    assert.match(stdout + stderr, /loop\/flemma\/session\/default\.json cannot be read: /, words.join(" "));
    assert.doesNotMatch(stderr, /Internal error/, words.join(" "));
  }
});

test("every kind of command reports an impossible file name in a full sentence", async (place) => {
  const name = `${"x".repeat(300)}.chat`;
  for (const command of ["advance", "approve", "status", "check", "undo"]) {
    const { code, stderr, stdout } = await place.run([command, name]);
    assert.ok(code === 1 || code === 2, command);
    assert.match(stdout + stderr, /File name too long/, command);
    assert.doesNotMatch(stdout + stderr, /Uncaught|Internal error/, command);
  }
});

test("a command that would change settings is answered by how to change them, another word by the nearest command", async (place) => {
  for (const word of ["set", "edit", "unset"]) {
    const { stderr } = await place.exits(2, ["config", word, "model"]);
    assert.match(stderr, /To change a setting, edit a file that this command names: flemma config path\n/);
  }
  const { stdout } = await place.exits(0, ["config", "path"]);
  assert.match(stdout, /config\.yaml/);
  assert.match((await place.exits(2, ["config", "gett"])).stderr, /Did you mean get\?/);
});
