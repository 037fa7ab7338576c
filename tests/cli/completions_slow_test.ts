// Shell completions and the manual page, both generated from the table of commands.

import assert from "node:assert/strict";
import { candidates } from "../../commands/line/candidates.ts";
import { COMMANDS } from "../../commands/line/table.ts";
import { manualPage } from "../../scripts/generate/pages/help.ts";
import { callsDocument, PROGRAM, testWithScene as test } from "./harness.ts";
import { inFolder } from "../folder.ts";

const words = (...line: readonly string[]) => candidates(line).words.map(({ word }) => word);

Deno.test("the first word is completed to a command or a file, and a command of two words is completed word by word", () => {
  assert.ok(words("").includes("advance"));
  assert.ok(words("").includes("sandbox"));
  assert.equal(words("").length, new Set(COMMANDS.map(({ name }) => name.split(" ")[0])).size);
  assert.equal(candidates([""]).files, true);
  assert.deepEqual(words("sandbox", "").toSorted(), [
    "compare",
    "disable",
    "enable",
    "reset",
    "run",
    "status",
    "use",
  ]);
});

Deno.test("completion offers only the command's own options, and values of the right kind", () => {
  assert.ok(words("advance", "--").includes("--no-autopilot"));
  assert.ok(words("reject", "f.chat", "-").includes("-m"));
  assert.ok(!words("approve", "--").includes("--message"));
  assert.equal(candidates(["advance", "--config", ""]).files, true);
  assert.deepEqual(candidates(["reject", "f.chat", "-m", ""]), { words: [], files: false, targetsOf: null });
});

Deno.test("completion offers files and calls exactly where the command takes them", () => {
  assert.deepEqual(candidates(["approve", ""]), { words: [], files: true, targetsOf: null });
  assert.equal(candidates(["approve", "f.chat", ""]).targetsOf, "f.chat");
  assert.equal(candidates(["approve", "--wait", "3", "f.chat", ""]).targetsOf, "f.chat");
  assert.equal(candidates(["advance", "f.chat", ""]).targetsOf, null);
  assert.deepEqual(candidates(["advance", "f.chat", ""]), { words: [], files: true, targetsOf: null });
  assert.deepEqual(candidates(["migrate", "f.chat", ""]), { words: [], files: false, targetsOf: null });
  assert.equal(candidates(["sandbox", "run", "--", "ma"]).files, true);
  assert.deepEqual(words("completions", ""), ["bash", "zsh", "fish"]);
  assert.equal(candidates(["advance", "f.chat", "--only", ""]).targetsOf, "f.chat");
  assert.deepEqual(words("help", "").toSorted(), [...words(""), "all"].toSorted());
  assert.deepEqual(words("help", "tools", ""), ["list", "show"]);
});

Deno.test("at every position of a command line, completion offers files only if the command's usage names a file at that position", () => {
  const offered = (name: string, ...words: readonly string[]) =>
    candidates([...name.split(" "), ...words, ""]).files;
  for (const { name, usage, arity: [, most] } of COMMANDS) {
    const [first = "", second] = usage.replace(/(?:^| )-- .*$/, "").split(" ");
    const isFile = (slot: string | undefined) => /FILE|SNIPPET|PATH/.test(slot ?? "");
    assert.equal(offered(name), isFile(first), name);
    const isMore = first.includes("…") && isFile(first);
    assert.equal(offered(name, "one"), most > 1 && (isFile(second) || isMore), `${name} one`);
  }
  // Only a call may stand behind the document.
  for (
    const name of ["approve", "reject", "execute", "undo", "cancel", "approval show", "approval explain"]
  ) {
    const { files, targetsOf } = candidates([...name.split(" "), "f.chat", ""]);
    assert.deepEqual([name, files, targetsOf], [name, false, "f.chat"]);
  }
  assert.equal(candidates(["approve", "f.chat", "call_1", ""]).targetsOf, "f.chat");
  assert.equal(candidates(["session", "set", "a=b", "c=d", ""]).files, true);
  assert.equal(candidates(["watch", "a.chat", "b.chat", ""]).files, true);
});

Deno.test("fish completes every command with its arguments", () =>
  inFolder(async (folder) => {
    // What the program would answer, each line of words in a file; the shell's script is what is tried.
    const rows = COMMANDS.map(({ name }) => [...name.split(" "), ""]);
    rows.push([""], ["advance", "--"], ["approve", "a b.chat", ""]);
    for (const words of rows) {
      const { words: found, files } = candidates(words);
      const lines = found.map(({ word, text }) => `${word}\t${text}\n`).join("");
      await Deno.writeTextFile(`${folder}/asked+${words.join("+")}`, lines + (files ? ":files\n" : ""));
    }
    await Deno.mkdir(`${folder}/in`);
    await Deno.writeTextFile(`${folder}/in/a b.chat`, "");
    const [program = "", ...words] = [...PROGRAM, "completions", "fish"];
    const script = await new Deno.Command(program, { args: words }).output();
    await Deno.writeFile(`${folder}/script.fish`, script.stdout);
    const asks = rows.map((words) =>
      `echo "== ${words.join("+")}"; complete -C 'flemma ${
        words.map((word) => word.replaceAll(" ", "\\ ")).join(" ")
      }'`
    );
    const fish = await new Deno.Command("fish", {
      args: [
        "--no-config",
        "-c",
        [
          `function flemma; cat ${folder}/(string join -- + asked $argv[3..]); end`,
          `source ${folder}/script.fish`,
          ...asks,
        ].join("\n"),
      ],
      cwd: `${folder}/in`,
      env: { HOME: folder },
    }).output();
    const reported = new TextDecoder().decode(fish.stdout);
    const parts = new Map(
      reported.split("== ").slice(1).map((part) => {
        const [title = "", ...lines] = part.trimEnd().split("\n");
        return [title, lines.map((line) => line.split("\t")[0])];
      }),
    );
    for (const words of rows) {
      const { words: found, files } = candidates(words);
      const offered = found.map(({ word }) => word).filter((word) => word.startsWith(words.at(-1)!));
      const expected = [...offered, ...(files ? ["a b.chat"] : [])];
      const got = parts.get(words.join("+"));
      assert.deepEqual(got?.toSorted(), expected.toSorted(), `${words.join(" ")}: ${reported}`);
    }
  }));

test("bash completes commands, files, and the ids of waiting calls", async (place) => {
  place.write(
    "a b.chat",
    callsDocument([{ id: "toolu:1", command: "make", status: "pending" }, { id: "other", command: "ls" }]),
  );
  const complete = async (line: string) => {
    const { stdout, stderr } = await place.shell(
      `flemma completions bash > script; bash -c '
          flemma() { ${place.program.map((word) => `"${word}"`).join(" ")} "$@"; }
          . ./script
          COMP_LINE=$1; COMP_POINT=\${#COMP_LINE}; _flemma
          printf "%s\\n" "\${COMPREPLY[@]}"' bash "$LINE"`,
      { env: { LINE: line } },
    );
    assert.equal(stderr, "");
    return stdout.trimEnd().split("\n");
  };
  assert.deepEqual(await complete("flemma appro"), ["approve", "approval"]);
  assert.deepEqual(await complete("flemma approve a"), ["a b.chat"]);
  assert.deepEqual(await complete('flemma show "a'), ["a b.chat"]);
  for (const file of ["a\\ b.chat", "'a b.chat'", '"a b.chat"', "a' 'b.chat"]) {
    assert.deepEqual(await complete(`flemma  approve ${file} to`), ["toolu:1"], file);
  }
  // Readline cuts words at colons, and puts what it gets behind the last one.
  assert.deepEqual(await complete("flemma approve a\\ b.chat toolu:"), ["1"]);
});

test("zsh completes commands, groups, options, files, and the ids of waiting calls", async (place) => {
  place.write(
    "a b.chat",
    callsDocument([{ id: "call:1", command: "make", status: "pending" }, { id: "other", command: "ls" }]),
  );
  place.write(
    "c.chat",
    callsDocument([{ id: "one", command: "A\\B", status: "pending" }, { id: "two", command: "ls" }]),
  );
  // Its own pseudo-terminal: what stands on the line once Tab has done its work is what a person would have there.
  place.write(
    "complete.zsh",
    `zmodload zsh/zpty; zpty line zsh -f -i
line() { zpty -w line "$1"; while zpty -r line got; do [[ $got == *"$2"* ]] && break; done }
line 'PS1= RPS1=; unsetopt promptcr promptsp; autoload -Uz compinit; compinit -u -d dump' ''
line 'flemma() { ${place.program.map((word) => `"${word}"`).join(" ")} "$@" }; . ./script' ''
line 'taken() { print -r -- "<$BUFFER>"; BUFFER=; }; zle -N taken; bindkey "^X" taken; print re""ady' 'ready'
for typed in "$@"; do
  zpty -w -n line "$typed"$'\t\x18'
  while zpty -r line got; do [[ $got == *'<'*'>'* ]] && { print -r -- "\${\${got##*<}%%>*}"; break; }; done
done
zpty -w -n line 'flemma approve c.chat '$'\\t'
while zpty -r line got; do [[ $got == *'A'*'B'* ]] && { print -r -- "A\${\${got##*A}%%B*}B"; break; }; done
zpty -d line
`,
  );
  const typed = [
    ["flemma sand", "flemma sandbox "],
    ["flemma sandbox stat", "flemma sandbox status "],
    ["flemma advance --no-a", "flemma advance --no-autopilot "],
    ["flemma show a", "flemma show a\\ b.chat "],
    ["flemma approve a\\ b.chat cal", "flemma approve a\\ b.chat call:1 "],
  ] as const;
  const asked = typed.map(([words]) => `'${words}'`).join(" ");
  const { stdout, stderr } = await place.shell(
    `flemma completions zsh > script; zsh -f complete.zsh ${asked}`,
  );
  assert.equal(stderr, "");
  assert.deepEqual(
    stdout.trimEnd().split("\n").map((line) => `${line.trimEnd()} `),
    // What a call would run is listed as it is.
    [...typed.map(([, whole]) => whole), "A\\B "],
  );
});

test("completed ids come with a description of their calls, and a broken document offers none", async (place) => {
  place.write("f.chat", callsDocument([{ id: "toolu_1", command: "make", status: "pending" }]));
  const { stdout } = await place.run(["complete", "--", "approve", "f.chat", ""]);
  assert.match(stdout, /^toolu_1\tpending {2}bash: \$ make$/m);
  place.write("g.chat", new Uint8Array([0xff, 0]));
  await place.exits(0, ["complete", "--", "approve", "g.chat", ""]);
  const unknown = await place.exits(2, ["completions", "tcsh"]);
  assert.match(unknown.stderr, /bash, zsh, fish/);
});

test("if an id looks like an option or the shell would interpret it, completion offers a number instead", async (place) => {
  const ids = ["toolu_1", "--all", "a;touch_ran", "2", "a|b"];
  place.write("f.chat", callsDocument(ids.map((id) => ({ id, command: "make", status: "pending" }))));
  const { stdout } = await place.run(["complete", "--", "approve", "f.chat", ""]);
  const offered = stdout.trimEnd().split("\n").map((row) => row.split("\t")[0]);
  // The number of the second call is the id of the fourth.
  assert.deepEqual(offered, ["toolu_1", "3", "2", "5"]);
  await place.exits(0, ["approve", "f.chat", "3"]);
  assert.match(place.read("f.chat"), /`a;touch_ran`\n\n```flemma:tool status=approved/);
});

Deno.test("the manual page describes every command and option", () => {
  const page = manualPage();
  for (const { name, options } of COMMANDS) {
    assert.ok(page.includes(`.SS "flemma ${name.replaceAll("-", "\\-")}`), name);
    for (const option of options) {
      assert.ok(page.includes(`\\-\\-${option.name.replaceAll("-", "\\-")}`), option.name);
    }
  }
});
