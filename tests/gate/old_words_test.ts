// Names in the program contain none of the replaced words.

import assert from "node:assert/strict";
import { readHouse } from "../../scripts/gate/module_graph.ts";
import { documentationPages } from "../../scripts/gate/documentation.ts";
import { isOfProgram, oldPhrasesIn, oldWordsIn, proseOf } from "../../scripts/gate/old_words.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { testFiles } from "../../scripts/gate/tests.ts";

Deno.test("no identifier in the program contains an outdated term", async () => {
  const { modules } = await readHouse(ROOT);
  const paths = [...modules.keys()].filter(isOfProgram);
  assert.ok(paths.length > 300, `only ${paths.length} files were read`);
  const found: string[] = [];
  for (const path of paths) found.push(...oldWordsIn(path, await Deno.readTextFile(`${ROOT}/${path}`)));
  assert.deepEqual(found, []);
});

Deno.test("an outdated term is found in each kind of identifier; terms of the public interface are not reported", () => {
  for (
    const [path, text, expected] of [
      ["a/course.ts", "", ["course"]],
      ["a/b.ts", "export interface RuleJudge {}", ["RuleJudge"]],
      ["a/b.ts", "  readonly #verdict: number;", ["verdict"]],
      ["a/b.ts", "const NOTHING_SAID = 1;", ["NOTHING_SAID"]],
      ["a/b.ts", "function peelGit() {}", ["peelGit"]],
      ["a/b.ts", "  #course: RunPhase = IDLE;", ["course"]],
      ["a/b.ts", "  async #pressOn() {}", ["pressOn"]],
      ["a/b.ts", "export function isKept() {}", ["isKept"]],
      ["a/b.ts", "export interface Standing {}", ["Standing"]],
      ["a/b.ts", "function isKept() {}\nconst kept = withheld;", []],
      ["a/b.ts", "readonly wall: string;\nconst background = firewall;", []],
      ["a/b.ts", "// const verdict\nconst x = 'const verdict';", []],
    ] as const
  ) assert.deepEqual(oldWordsIn(path, text), expected.map((name) => `${path}: ${name}`), text || path);
});

/** Uses of a replaced phrase that are plain English where they are. */
const ALLOWED: readonly RegExp[] = [
  // A value of the setting lock.place.
  /lock\.place|[`"]beside[`"]|place: beside/,
  // The first of several blocks of thinking, or of calls; a mark of a model in the JSON of `models list`.
  /first block (?:that no longer|of these calls)/,
  /models\.ts: .*in force/,
];

Deno.test("no page, comment, message or test name contains an outdated phrase", async () => {
  const found: string[] = [];
  for (const page of [...await documentationPages(), "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]) {
    const text = await Deno.readTextFile(`${ROOT}/${page}`);
    found.push(...oldPhrasesIn(page, text.replaceAll(/^(`{3,}).*\n[\s\S]*?^\1`*$/gm, "")));
  }
  for (const path of (await readHouse(ROOT)).modules.keys()) {
    if (path.endsWith(".generated.ts") || path === "scripts/gate/old_words.ts") continue;
    for (const each of proseOf(await Deno.readTextFile(`${ROOT}/${path}`))) {
      found.push(...oldPhrasesIn(path, each));
    }
  }
  for (const path of await testFiles()) {
    const text = await Deno.readTextFile(`${ROOT}/${path}`);
    for (const [, name] of text.matchAll(/\b[tT]est\w*\(\s*"((?:[^"\\\n]|\\.)+)"/g)) {
      found.push(...oldPhrasesIn(path, name!));
    }
  }
  assert.deepEqual(found.filter((line) => !ALLOWED.some((use) => use.test(line))), []);
});

Deno.test("an outdated phrase is found in pages, comments and messages, but the same words in a normal meaning are not reported", () => {
  for (
    const [text, count] of [
      ["That is no file.", 1],
      ["There is no file, and it is no longer used.", 0],
      ["Whoever reads it is told of it.", 2],
      ["The sign stands for a turn.", 0],
      ["A turn stands below it.", 1],
    ] as const
  ) assert.equal(oldPhrasesIn("a", text).length, count, text);
  const module = '// One comment.\nconst text = "two words"; /** Three\n * lines. */ const word = "word";\n';
  assert.deepEqual(
    proseOf(module).map((each) => each.trim()).sort(),
    ["One comment.", "Three lines.", "two words"].sort(),
  );
});
