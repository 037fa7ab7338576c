import assert from "node:assert/strict";
import { readArguments } from "../../commands/line/arguments.ts";
import { helpFor } from "../../commands/line/help.ts";
import { MODULES } from "../../commands/load.ts";
import { typedValue } from "../../config/schema/modeline.ts";
import { safeJson } from "../../commands/io/safe_json.ts";
import { COMMANDS } from "../../commands/line/table.ts";

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

Deno.test("a first word that names a file means advance", () => {
  const given = runs("notes.chat --no-autopilot", () => true);
  assert.equal(given.command.name, "advance");
  assert.deepEqual(given.positionals, ["notes.chat"]);
  assert.deepEqual([...given.options], [["autopilot", false]]);
});

Deno.test("options may stand anywhere, take their value after = or a blank, and end at --", () => {
  const given = runs("reject a.chat -m no --line=7 -- --all");
  assert.deepEqual([...given.options], [["message", "no"], ["line", 7]]);
  assert.deepEqual(given.positionals, ["a.chat", "--all"]);
  assert.deepEqual(runs("advance - --approve bash --approve $x").options.get("approve"), ["bash", "$x"]);
});

Deno.test("a command line of its own follows --", () => {
  const given = runs("sandbox run a.chat -- make --all");
  assert.deepEqual(given.positionals, ["a.chat"]);
  assert.deepEqual(given.rest, ["make", "--all"]);
  assert.match(mistakeOf("sandbox run make").message, /after --/);
});

Deno.test("what is not understood is a mistake that knows the command it was meant for", () => {
  assert.equal(mistakeOf("advanec").command, null);
  assert.equal(mistakeOf("advance - --autopilt").unknown?.word, "--autopilt");
  assert.equal(mistakeOf("advance - --autopilt").command?.name, "advance");
  assert.match(mistakeOf("advance --max-turns many -").message, /number/);
  assert.match(mistakeOf("advance --model").message, /value/);
  assert.match(mistakeOf("advance a.chat b.chat").message, /b\.chat/);
  assert.match(mistakeOf("advance --quiet=yes").message, /no value/);
  assert.match(mistakeOf("new").message, /FILE/);
  assert.match(mistakeOf("sandbox").message, /sandbox status/);
  assert.equal(mistakeOf("sandbox stat").unknown?.word, "stat");
  assert.deepEqual(mistakeOf("advance - --bad").positionals, ["-"]);
});

Deno.test("there is no option that approves everything", () => {
  assert.match(mistakeOf("advance --yes -").message, /no option --yes/);
});

Deno.test("every command has a module, and help with its options and an example", () => {
  assert.deepEqual(Object.keys(MODULES).sort(), COMMANDS.map(({ name }) => name).sort());
  for (const { name, options, example } of COMMANDS) {
    const page = helpFor(name)!;
    assert.ok(page.includes(`Example:\n  ${example}`), name);
    for (const option of options) assert.ok(page.includes(`--${option.name}`), `${name} --${option.name}`);
    assert.ok(helpFor("")!.includes(`flemma ${name}`), name);
    const shown = read(example.slice("flemma ".length).replaceAll('"', "").replace(/ (-m|--system) .*/, ""));
    assert.equal(shown.kind, "run", `the example of ${name} is understood: ${example}`);
  }
  assert.equal(helpFor("nonsense"), null);
});

Deno.test("parameter values are typed as presets type them", () => {
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

Deno.test("JSON for a terminal holds nothing that a terminal acts on, and means the same", () => {
  const value = { text: "\x1b[31m \x9b \u202e \u200b \u{e0041} ä\n" };
  const json = safeJson(value);
  assert.match(json, /^[\x20-\x7eä]*$/);
  assert.deepEqual(JSON.parse(json), value);
  assert.deepEqual(JSON.parse(safeJson(value, 2)), value);
});
