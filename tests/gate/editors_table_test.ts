// The table of editors and actions names tests that exist.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";

const PAGE = `${ROOT}/docs/project/editors.md`;

/** Returns what is wrong with a table of editors: cells without an answer, unknown or unused numbers, missing tests. */
function faultsOf(page: string, textOf: (file: string) => string): string[] {
  const faults: string[] = [];
  const tests = new Map<string, string>();
  for (const [, number, file, name] of page.matchAll(/^(\d+)\. `([^`]+\.ts)`: (.+)$/gm)) {
    if (tests.has(number!)) faults.push(`two tests ${number}`);
    tests.set(number!, name!);
    const spellings = [`"${name!.replaceAll('"', '\\"')}"`, `\`${name}\``, `: ${name}\``, `} ${name}\``];
    const text = textOf(file!);
    if (!spellings.some((spelling) => text.includes(spelling))) faults.push(`${file}: ${name}`);
  }
  const used = new Set<string>();
  const rows = page.split("\n").filter((line) => line.startsWith("| ")).slice(2);
  for (const row of rows) {
    const [action = "", ...cells] = row.slice(1, -1).split("|").map((cell) => cell.trim());
    for (const cell of cells) {
      if (/^\d+(, \d+)*$/.test(cell)) {
        for (const number of cell.split(", ")) {
          used.add(number);
          if (!tests.has(number)) faults.push(`${action}: no test ${number}`);
        }
      } else if (!/^(not tested|not supported: .+|by hand: .+ \d{4}-\d\d-\d\d)$/.test(cell)) {
        faults.push(`${action}: ${cell}`);
      }
    }
  }
  for (const number of tests.keys()) if (!used.has(number)) faults.push(`unused test ${number}`);
  return faults;
}

Deno.test("every cell of the table of editors names tests that exist, or says why there is none", () => {
  const textOf = (file: string) => Deno.readTextFileSync(`${ROOT}/${file}`);
  assert.deepEqual(faultsOf(Deno.readTextFileSync(PAGE), textOf), []);
});

Deno.test("a missing test, an unknown or unused number and an empty cell are found in a table of editors", () => {
  const page = (cells: string, tests: string) => `| a | b |\n| --- | --- |\n| ask | ${cells} |\n\n${tests}\n`;
  const textOf = () => 'test("works", …); test(`${name}: ends`, …)';
  const test = "1. `a.ts`: works";
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ["1", test, []],
    ["1, 2", `${test}\n2. \`a.ts\`: ends`, []],
    ["1 | not tested | not supported: why | by hand: Zed 1.2 2026-11-30", test, []],
    ["1, 2", test, ["ask: no test 2"]],
    ["not tested", test, ["unused test 1"]],
    ["1 | ", test, ["ask: "]],
    ["1 | by hand: Zed", test, ["ask: by hand: Zed"]],
    ["1 | not supported", test, ["ask: not supported"]],
    ["1", "1. `a.ts`: work", ["a.ts: work"]],
    ["1", `${test}\n${test}`, ["two tests 1"]],
  ];
  for (const [cells, tests, expected] of rows) {
    assert.deepEqual(faultsOf(page(cells, tests), textOf), expected, cells);
  }
});
