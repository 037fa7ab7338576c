import assert from "node:assert/strict";
import { readArguments } from "../../commands/line/arguments.ts";
import { Exit } from "../../commands/io/exit.ts";
import { helpFor, optionForm, unknownTopic } from "../../commands/line/help.ts";
import { EVERYDAY } from "../../commands/line/overview.ts";
import { MODULES } from "../../commands/load.ts";
import { FILTERS } from "../../commands/start/start.ts";
import { typedValue } from "../../config/schema/presets/modeline.ts";
import { safeJson } from "../../commands/io/safe_json.ts";
import { COMMANDS, GROUPS } from "../../commands/line/table.ts";

const never = () => false;
const read = (line: string, isFile = never) => readArguments(line === "" ? [] : line.split(" "), isFile);

function runs(line: string, isFile?: () => boolean) {
  const found = read(line, isFile);
  assert.equal(found.kind, "run", JSON.stringify(found));
  return found.kind === "run" ? found.arguments : assert.fail();
}

function mistakeOf(line: string) {
  const found = read(line);
  assert.equal(found.kind, "mistake", line);
  return found.kind === "mistake" ? found.mistake : assert.fail();
}

Deno.test("a first argument that names a file runs the advance command", () => {
  const given = runs("notes.chat --no-autopilot", () => true);
  assert.equal(given.command.name, "advance");
  assert.deepEqual(given.positionals, ["notes.chat"]);
  assert.deepEqual([...given.options], [["autopilot", false]]);
});

Deno.test("options may come anywhere before --, and take their value after = or a space", () => {
  const given = runs("reject a.chat -m no --line=7 -- --all");
  assert.deepEqual([...given.options], [["message", "no"], ["line", 7]]);
  assert.deepEqual(given.positionals, ["a.chat", "--all"]);
  assert.deepEqual(runs("advance - --approve bash --approve $x").options.get("approve"), ["bash", "$x"]);
});

Deno.test("after --, the words are a separate command line", () => {
  const given = runs("sandbox run a.chat -- make --all");
  assert.deepEqual(given.positionals, ["a.chat"]);
  assert.deepEqual(given.rest, ["make", "--all"]);
  assert.match(mistakeOf("sandbox run make").message, /after --/);
});

Deno.test("the error for an unknown option names the command for which it was given", () => {
  assert.equal(mistakeOf("advanec").command, null);
  assert.equal(mistakeOf("advance - --autopilt").unknown?.word, "--autopilt");
  assert.equal(mistakeOf("advance - --autopilt").command?.name, "advance");
  assert.match(mistakeOf("advance --max-turns many -").message, /number/);
  assert.match(mistakeOf("advance --model").message, /value/);
  assert.match(mistakeOf("migrate a.chat b.chat").message, /b\.chat/);
  assert.match(mistakeOf("advance --quiet=yes").message, /no value/);
  assert.match(mistakeOf("new").message, /FILE/);
  assert.match(mistakeOf("sandbox").message, /sandbox status/);
  assert.equal(mistakeOf("sandbox stat").unknown?.word, "stat");
  assert.deepEqual(mistakeOf("advance - --bad").positionals, ["-"]);
});

Deno.test("no option approves every call", () => {
  assert.match(mistakeOf("advance --yes -").message, /no option --yes/);
});

Deno.test("every command has a module, and a help text with its options and an example", () => {
  assert.deepEqual(Object.keys(MODULES).sort(), COMMANDS.map(({ name }) => name).sort());
  assert.deepEqual(FILTERS, COMMANDS.filter(({ kind }) => kind === "filter").map(({ name }) => name));
  for (const { name, options, example } of COMMANDS) {
    const page = helpFor(name)!;
    assert.ok(page.includes(`Example:\n  ${example}`), name);
    for (const option of options) assert.ok(page.includes(`--${option.name}`), `${name} --${option.name}`);
    assert.match(helpFor("all")!, new RegExp(`^  ${name}  `, "m"));
    const shown = read(example.slice("flemma ".length).replaceAll('"', "").replace(/ (-m|--system) .*/, ""));
    assert.equal(shown.kind, "run", `the example of ${name} is understood: ${example}`);
  }
  assert.equal(helpFor("nonsense"), null);
});

Deno.test("help without a topic shows only the everyday commands, on one screen", () => {
  const page = helpFor("")!;
  const lines = page.trimEnd().split("\n");
  assert.ok(lines.length <= 38, `${lines.length} lines`);
  const shown = lines.slice(lines.findIndex((line) => line.startsWith("Start")), lines.indexOf("More:"))
    .flatMap((line) => /^ {2}(\S+)/.exec(line)?.[1] ?? []);
  assert.deepEqual(shown, Object.values(EVERYDAY).flat());
  assert.equal(new Set(shown).size, 12);
  for (const word of ["new", "ask", "advance", "approve", "reject", "review", "status", "show", "undo"]) {
    assert.ok(shown.includes(word), word);
  }
  for (const [, line] of page.matchAll(/(?:^ {2}|\| )(flemma .*?)(?: {2,}|$)/gm)) {
    if (line!.includes("COMMAND")) continue;
    const words = [...line!.slice("flemma ".length).matchAll(/"([^"]*)"|(\S+)/g)].map(([, a, b]) => a ?? b!);
    assert.notEqual(readArguments(words, never).kind, "mistake", line);
  }
});

Deno.test("a topic may come before or after the word help; for an unknown topic, flemma suggests a command", () => {
  for (const line of ["help", "--help", "-h", "help --help"]) {
    assert.deepEqual(read(line), { kind: "help", topic: "" }, line);
  }
  assert.deepEqual(read("help all"), { kind: "help", topic: "all" });
  assert.deepEqual(read("--help all"), { kind: "help", topic: "all" });
  for (const name of ["advance", "sandbox status"]) {
    assert.deepEqual(read(`help ${name}`), read(`${name} --help`), name);
  }
  const lost = (topic: string) => unknownTopic(topic).split("\n");
  assert.deepEqual(lost("nope"), [
    "flemma: There is no command nope.",
    "  All commands: flemma help all",
    "",
  ]);
  assert.match(lost("advanse")[0]!, /Did you mean advance\?$/);
  assert.match(lost("sandbox stat")[0]!, /Did you mean sandbox status\?$/);
  assert.match(lost("run")[0]!, /Did you mean advance\?$/);
});

Deno.test("no line of help is wider than 80 columns, and wrapping loses no text", () => {
  for (const topic of ["", "all", ...COMMANDS.map(({ name }) => name)]) {
    for (const line of helpFor(topic)!.split("\n")) assert.ok(line.length <= 80, `${topic}: ${line}`);
  }
  for (const { name, options } of COMMANDS) {
    const page = helpFor(name)!.replace(/\s+/g, " ");
    for (const option of options) {
      assert.ok(page.includes(`${optionForm(option)} ${option.help}`), option.name);
    }
  }
});

Deno.test("help describes each option in at most two lines and each command in one", () => {
  for (const { name, options, summary } of COMMANDS) {
    assert.ok(summary.length < 70, `${name}: ${summary}`);
    const lines = helpFor(name)!.split("\nOptions:\n")[1]!.split("\n");
    for (const option of options) {
      const start = lines.findIndex((line) => line.startsWith(`  ${optionForm(option)}`));
      const own = lines[start]!.trim() === optionForm(option) ? 1 : 0;
      const next = lines.slice(start + 1).findIndex((line) => /^ {2}-/.test(line) || line === "");
      assert.ok(next + 1 - own <= 2, `${name} ${optionForm(option)}`);
    }
  }
});

Deno.test("help breaks a line early only after the end of a sentence", () => {
  const broken = COMMANDS.filter(({ details = "" }) => /[^.:\n]\n/.test(details)).map(({ name }) => name);
  assert.deepEqual(broken, []);
});

Deno.test("help shows defaults, repeatable options, exit codes and environment variables in groups", () => {
  const advance = helpFor("advance")!.replace(/\s+/g, " ");
  assert.match(advance, /--wait SECONDS Wait this long [^.]*\. Default: 0\./);
  assert.match(advance, /--param KEY=VALUE Set a model parameter\. Can be repeated\./);
  const overview = helpFor("all")!;
  for (const { title, commands } of GROUPS) {
    const group = overview.slice(overview.indexOf(`${title}:`)).split("\n\n")[0]!;
    for (const { name } of commands) assert.match(group, new RegExp(`^  ${name}  `, "m"));
  }
  for (const code of Object.values(Exit)) {
    // That the reader of a report went away is nothing to tell in advance.
    if (code !== Exit.readerGone) assert.match(overview, new RegExp(`^  ${code} +\\w`, "m"));
  }
  for (const name of ["FLEMMA_CONFIG", "XDG_STATE_HOME", "NO_COLOR"]) {
    assert.ok(overview.includes(name), name);
  }
});

Deno.test("if a number is invalid or -- is missing, the error says what was probably meant", () => {
  assert.equal(
    mistakeOf("advance a.chat --max-turns=-1").message,
    "--max-turns needs a whole number of 0 or more, not -1.",
  );
  assert.equal(
    mistakeOf("advance a.chat --wait soon").message,
    "--wait needs a number of 0 or more, not soon.",
  );
  assert.equal(
    mistakeOf("sandbox run make test").message,
    "sandbox run needs a command after --, such as: flemma sandbox run -- make test",
  );
  const named = readArguments(["sandbox", "run", "a.chat", "ls"], (word) => word === "a.chat");
  assert.match(named.kind === "mistake" ? named.mistake.message : "", /: flemma sandbox run a\.chat -- ls$/);
  assert.match(mistakeOf("sandbox run").message, /: flemma sandbox run -- make test$/);
});

Deno.test("parameter values on the command line get the same types as in presets", () => {
  const values: readonly (readonly [string, unknown])[] = [
    ["true", true],
    ["0.5", 0.5],
    ["-3", -3],
    ["null", null],
    ["nil", null],
    ["", null],
    ["50%", "50%"],
    ['"1"', "1"],
    ["a,2,true", ["a", 2, true]],
  ];
  for (const [text, value] of values) assert.deepEqual(typedValue(text), value, text);
});

Deno.test("JSON printed to a terminal has its control characters escaped and keeps its meaning", () => {
  const value = { text: "\x1b[31m \x9b \u202e \u200b \u{e0041} ä\n" };
  const json = safeJson(value);
  assert.match(json, /^[\x20-\x7eä]*$/);
  assert.deepEqual(JSON.parse(json), value);
  assert.deepEqual(JSON.parse(safeJson(value, 2)), value);
});
