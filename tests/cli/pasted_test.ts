// Commands printed for pasting, in a shell and in editors, with names chosen by an attacker.

import assert from "node:assert/strict";
import { missingPrograms } from "../editors/terminal.ts";
import { callsDocument, testWithScene as test, withScene } from "./harness.ts";

/** An option by its first character, and commands in each kind of quotes. */
const NAME = `-$(>ran) \`>ran\` ';>ran;' ";>ran;" | !x.chat`;
const FOLDER = `it's $(>ran);>ran; "x" %sh{>ran} 50%`;
const CALLS = callsDocument([{ id: "--all", command: "echo a", status: "pending" }]);

/** Words of a command line, and what it says that can be pasted. */
const SAYS: readonly (readonly string[])[] = [
  ["session", "set", "model", "x", "--", NAME],
  ["session", "unset", "model", "--", NAME],
  ["sandbox", "enable", "--", NAME],
  ["approve", "--always", "--", NAME],
  ["reject", "--", NAME],
  ["status", "--", NAME],
  ["advance", "--", NAME],
  ["send", "--", NAME],
  ["undo", "--", NAME, "other"],
  ["new", "--", `new${NAME}`],
  ["advance", "--", `missing${NAME}`],
  ["advance", "--", `missing/${NAME}`],
];

test("a command that flemma prints, pasted into a shell, names the same document, and starts nothing because of its name", async (place) => {
  place.settings("tools: { auto_approve_sandboxed: false, auto_approve: [] }\n");
  let pasted = 0;
  for (const words of SAYS) {
    place.write(NAME, CALLS);
    const { stdout, stderr } = await place.run(words);
    for (const [command] of `${stdout}\n${stderr}`.matchAll(/\bflemma [a-z].*?(?=, or |\. |$)/gm)) {
      if (!command.includes(">ran")) continue;
      pasted++;
      const read = await place.spawn(["sh", "-c", `flemma() { printf '%s\\n' "$@"; }; ${command}`], {})
        .finished;
      assert.ok(read.stdout.includes(NAME), `${words.join(" ")}: ${command}: ${read.stdout}${read.stderr}`);
      const given = read.stdout.split("\n");
      assert.ok(
        given.every((word, at) => !word.startsWith("-$") || given.lastIndexOf("--", at) >= 0),
        command,
      );
      assert.equal(place.exists("ran"), false, command);
    }
  }
  assert.ok(pasted >= SAYS.length / 2, `${pasted} of them say what can be pasted`);
});

/** How an editor runs the line that it is told to, without a terminal. */
const RUNS: Readonly<Record<string, (line: string) => readonly string[]>> = {
  emacs: (line) => ["emacs", "-Q", "--batch", "--eval", line, "--eval", "(princ (featurep 'flemma))"],
  kak: (
    line,
  ) => ["kak", "-n", "-ui", "json", "-e", `${line}; nop %sh{ echo "$kak_opt_flemma_program" >found }; quit!`],
  vim: (line) => ["vim", "-Nu", "NONE", "-i", "NONE", "-es", "-c", line.replace(/^:/, ""), "-c", "q"],
};
const missing = await missingPrograms();

for (const [editor, words] of Object.entries(RUNS)) {
  Deno.test({
    name: `${editor}: the line to be added to its settings works for a folder of any name`,
    ignore: missing.includes(editor),
    fn: () =>
      withScene(async (place) => {
        // What else Vim takes for a pattern here it finds under no spelling.
        const folder = editor === "vim" ? `my 50% #1 | "x"; !` : FOLDER;
        const { stdout } = await place.run(["editor", editor, "--install", "--to", folder]);
        const [line = ""] = /:helptags .*|\(load .*|source .*/.exec(stdout) ?? [];
        const done = await place.spawn(words(line), {}).finished;
        const found = {
          emacs: () => done.stdout === "t",
          kak: () => place.exists("found") && place.read("found") === "flemma\n",
          vim: () => place.exists(`${folder}/doc/tags`),
        }[editor]!();
        assert.ok(found, `${line}\n${done.stdout}${done.stderr}`);
        assert.equal(place.exists("ran"), false);
      }),
  });
}
