// Decisions of the command line that depend only on its input, one row per condition.

import assert from "node:assert/strict";
import { isInEditor } from "../../commands/io/parent_editor.ts";
import { Exit, exitOf } from "../../commands/io/exit.ts";
import { placeOf } from "../../commands/io/messages.ts";
import { isDocument } from "../../commands/io/piped_document.ts";
import { readArguments } from "../../commands/line/arguments.ts";
import { readsInput, wantsDocument } from "../../commands/main.ts";

const environment = { cwd: "/w", home: "/home", variables: {} };

Deno.test("each problem code has an exit code; an unknown problem code has the exit code of a failure", () => {
  const rows: readonly (readonly [code: string, exit: number])[] = [
    ["config-invalid", Exit.usage],
    ["config-missing", Exit.usage],
    ["config-unread", Exit.usage],
    ["config-unreadable", Exit.usage],
    ["usage", Exit.usage],
    ["provider-unknown", Exit.usage],
    ["base-url-invalid", Exit.usage],
    ["target-needed", Exit.usage],
    ["target-ambiguous", Exit.usage],
    ["preview-cut", Exit.usage],
    ["first-block-invalid", Exit.diagnostics],
    ["last-word", Exit.person],
    ["document-locked", Exit.conflict],
    ["document-changed", Exit.conflict],
    ["write-failed", Exit.failure],
  ];
  for (const [code, exit] of rows) assert.equal(exitOf({ code, message: "" }), exit, code);
});

Deno.test("an option defines where messages go; without it, they go to the journal if events use standard error, else where the mode sends them", () => {
  const place = (filter: boolean, chosen?: string, events?: string) =>
    placeOf(environment, { filter, chosen, events });
  for (const filter of [true, false]) {
    for (const events of [undefined, "stderr"]) {
      assert.equal(place(filter, "stderr", events), "live");
      assert.equal(place(filter, "journal", events), "journal");
      assert.deepEqual(place(filter, "log.txt", events), { file: "/w/log.txt" });
      assert.deepEqual(place(filter, "/tmp/log", events), { file: "/tmp/log" });
    }
    assert.equal(place(filter, undefined, "stderr"), "journal", "no text between lines of JSON");
  }
  for (const events of [undefined, "fd:3", "events.jsonl"]) {
    assert.equal(place(false, undefined, events), "live");
  }
});

Deno.test("a command reads its document from standard input if the file is omitted or is -, unless the command takes no document", () => {
  const rows:
    readonly (readonly [kind: "filter" | "report" | "none", words: readonly string[], reads: boolean])[] = [
      ["filter", [], true],
      ["filter", ["-"], true],
      ["filter", ["-", "call_1"], true],
      ["filter", ["a.chat"], false],
      ["filter", ["a.chat", "-"], false],
      ["report", [], true],
      ["report", ["-"], true],
      ["report", ["a.chat"], false],
      ["none", [], false],
      ["none", ["-"], false],
    ];
  for (const [kind, words, reads] of rows) assert.equal(readsInput(kind, words), reads, `${kind} ${words}`);
});

Deno.test("a command that reads a document requires one, unless an option makes it optional", () => {
  const rows: readonly (readonly [line: string, wants: boolean])[] = [
    ["advance", true],
    ["advance -", true],
    ["advance a.chat", false],
    ["status", true],
    ["status --json", true],
    ["status --last", false],
    ["doctor", false],
  ];
  for (const [line, wants] of rows) {
    const read = readArguments(line.split(" "), () => true);
    assert.equal(read.kind === "run" && wantsDocument(read.arguments), wants, line);
  }
});

Deno.test("if a FILE is given, piped text counts as a document only if it contains a message, a result or a status", () => {
  const rows: readonly (readonly [text: string, is: boolean])[] = [
    ["@You:\nhi\n", true],
    ["words\n@You:\nhi\n", true],
    ["**Tool Result:** `c1`\n", true],
    ["```flemma:tool status=pending\n```\n", true],
    ["x\n````flemma:pending\n", true],
    ["", false],
    ["a.chat\nb.chat\n", false],
    ["see **Tool Result:** there\n", false],
    ["``flemma:tool\n", false],
    ["```yaml\nflemma:\n```\n", false],
  ];
  for (const [text, is] of rows) assert.equal(isDocument(new TextEncoder().encode(text)), is, text);
});

Deno.test("an editor is recognized by exactly the environment variables that it sets for its children, even if they are empty", () => {
  const names = [
    "VIMRUNTIME",
    "VIM",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "INSIDE_EMACS",
    "kak_session",
    "KAKOUNE_SESSION",
    "HELIX_RUNTIME",
    "VSCODE_PID",
    "ZED_TERM",
    "TEXTADEPT_HOME",
    "vis_filename",
  ];
  for (const name of names) {
    assert.equal(isInEditor({ ...environment, variables: { [name]: "" } }), true, name);
  }
  assert.equal(isInEditor({ ...environment, variables: { EDITOR: "vim", TERM: "xterm" } }), false);
});
