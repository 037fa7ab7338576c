// Names in the program contain none of the replaced words.

import assert from "node:assert/strict";
import { readHouse } from "../../scripts/gate/module_graph.ts";
import { isOfProgram, oldWordsIn } from "../../scripts/gate/old_words.ts";
import { ROOT } from "../../scripts/gate/root.ts";

Deno.test("no name in the program contains a replaced word", async () => {
  const { modules } = await readHouse(ROOT);
  const paths = [...modules.keys()].filter(isOfProgram);
  assert.ok(paths.length > 300, `only ${paths.length} files were read`);
  const found: string[] = [];
  for (const path of paths) found.push(...oldWordsIn(path, await Deno.readTextFile(`${ROOT}/${path}`)));
  assert.deepEqual(found, []);
});

Deno.test("a replaced word is found in each kind of name, and public words are not reported", () => {
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
