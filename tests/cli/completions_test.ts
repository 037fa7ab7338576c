// What a shell offers, and the manual page: both from the table of commands.

import assert from "node:assert/strict";
import { candidates } from "../../commands/line/candidates.ts";
import { COMMANDS } from "../../commands/line/table.ts";
import { callsDocument, withScene } from "./harness.ts";

const words = (...line: readonly string[]) => candidates(line).words.map(({ word }) => word);

Deno.test("the first word is a command or a file, and groups are completed word by word", () => {
  assert.ok(words("").includes("advance"));
  assert.ok(words("").includes("sandbox"));
  assert.equal(words("").length, new Set(COMMANDS.map(({ name }) => name.split(" ")[0])).size);
  assert.equal(candidates([""]).files, true);
  assert.deepEqual(words("sandbox", "").toSorted(), ["disable", "enable", "reset", "run", "status"]);
});

Deno.test("options are those of the command, and a value is asked for what it is", () => {
  assert.ok(words("advance", "--").includes("--no-autopilot"));
  assert.ok(words("reject", "f.chat", "-").includes("-m"));
  assert.ok(!words("approve", "--").includes("--message"));
  assert.equal(candidates(["advance", "--config", ""]).files, true);
  assert.deepEqual(candidates(["reject", "f.chat", "-m", ""]), { words: [], files: false, targetsOf: null });
});

Deno.test("files and calls stand where the command takes them, one row a condition", () => {
  assert.deepEqual(candidates(["approve", ""]), { words: [], files: true, targetsOf: null });
  assert.equal(candidates(["approve", "f.chat", ""]).targetsOf, "f.chat");
  assert.equal(candidates(["approve", "--wait", "3", "f.chat", ""]).targetsOf, "f.chat");
  assert.equal(candidates(["advance", "f.chat", ""]).targetsOf, null);
  assert.deepEqual(candidates(["advance", "f.chat", ""]), { words: [], files: false, targetsOf: null });
  assert.equal(candidates(["sandbox", "run", "--", "ma"]).files, true);
  assert.deepEqual(words("completions", ""), ["bash", "zsh", "fish"]);
});

Deno.test("bash completes commands, files, and the ids of calls that wait", () =>
  withScene(async (place) => {
    place.write(
      "a b.chat",
      callsDocument([{ id: "toolu_1", command: "make", status: "pending" }, { id: "other", command: "ls" }]),
    );
    const complete = async (...line: readonly string[]) => {
      const quoted = line.map((word) => `'${word}'`).join(" ");
      const { stdout, stderr } = await place.shell(
        `flemma completions bash > script; bash -c '
          flemma() { ${place.program.map((word) => `"${word}"`).join(" ")} "$@"; }
          . ./script
          COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flemma
          printf "%s\\n" "\${COMPREPLY[@]}"' bash ${quoted}`,
      );
      assert.equal(stderr, "");
      return stdout.trimEnd().split("\n");
    };
    assert.deepEqual(await complete("flemma", "appro"), ["approve", "approval"]);
    assert.deepEqual(await complete("flemma", "approve", "a"), ["a b.chat"]);
    assert.ok((await complete("flemma", "approve", "a b.chat", "to")).includes("toolu_1"));
    assert.ok(!(await complete("flemma", "approve", "a b.chat", "to")).includes("other"));
  }));

Deno.test("ids come with what their calls ask for, and a broken document offers none", () =>
  withScene(async (place) => {
    place.write("f.chat", callsDocument([{ id: "toolu_1", command: "make", status: "pending" }]));
    const { stdout } = await place.run(["complete", "--", "approve", "f.chat", ""]);
    assert.match(stdout, /^toolu_1\tpending {2}bash: \$ make$/m);
    place.write("g.chat", new Uint8Array([0xff, 0]));
    assert.equal((await place.run(["complete", "--", "approve", "g.chat", ""])).code, 0);
    const unknown = await place.run(["completions", "tcsh"]);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /bash, zsh, fish/);
  }));

Deno.test("the manual page tells of every command and option", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/flemma.1", import.meta.url));
  for (const { name, options } of COMMANDS) {
    assert.ok(page.includes(`.SS "flemma ${name.replaceAll("-", "\\-")}`), name);
    for (const option of options) {
      assert.ok(page.includes(`\\-\\-${option.name.replaceAll("-", "\\-")}`), option.name);
    }
  }
});
