// The tests in the lists of faults and promises exist, every promise of README and docs is in its list, and every
// campaign has a short form in the gate.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { CAMPAIGNS } from "../campaign/campaigns.ts";
import { totals } from "../campaign/record.ts";
import { promisesIn, readPromises } from "../promises.ts";
import { type Held, readReliability } from "../reliability.ts";

/** Why a sentence needs no test: it is about something else than what this version does. */
const REASONS = ["design", "limit", "meaning", "other", "reader"];

/** The named tests that are not in their files. */
async function missingTests(held: readonly Held[]): Promise<string[]> {
  const texts = new Map<string, string>();
  const missing: string[] = [];
  for (const { file, name } of held.flatMap(({ tests }) => tests)) {
    const text = texts.get(file) ?? await Deno.readTextFile(`${ROOT}/tests/${file}`).catch(() => "");
    texts.set(file, text);
    // A name stands as a whole text in its file: in quotes of any kind, or as the key of a row.
    const spellings = [`"${name.replaceAll('"', '\\"')}"`, `\`${name}\``, `'${name.replaceAll("'", "\\'")}'`];
    if (!spellings.some((spelling) => text.includes(spelling))) missing.push(`${file}: ${name}`);
  }
  return missing;
}

Deno.test("every fault in the list has a test, and every test in it exists", async () => {
  const groups = await readReliability();
  for (const { promise, faults } of groups) assert.ok(faults.length > 0, promise);
  const held = groups.flatMap(({ faults }) => faults);
  assert.deepEqual(held.filter(({ tests }) => tests.length === 0), []);
  assert.deepEqual(await missingTests(held), []);
});

Deno.test("every promise of README and docs is in the list of promises with its tests, which exist", async () => {
  const [pages, groups] = await Promise.all([readPromises(), readReliability("promises.txt")]);
  const listed = new Map(groups.map(({ promise, faults }) => [promise, faults.map(({ fault }) => fault)]));
  const differences = [...new Set([...pages.keys(), ...listed.keys()])].flatMap((page) => {
    const [there = [], known = []] = [pages.get(page), listed.get(page)];
    return [
      ...there.filter((one) => !known.includes(one)).map((one) =>
        `not in tests/promises.txt: ${page}: ${one}`
      ),
      ...known.filter((one) => !there.includes(one)).map((one) => `no longer on ${page}: ${one}`),
    ];
  });
  assert.deepEqual(differences, []);
  const held = groups.flatMap(({ faults }) => faults);
  assert.deepEqual(await missingTests(held), []);
  const performance = await Deno.readTextFile(`${ROOT}/docs/project/performance.md`);
  assert.deepEqual(
    held.filter(({ tests, reason }) =>
      reason === null ? tests.length === 0 : tests.length > 0 || !(REASONS.includes(reason) ||
        performance.includes(`\n## ${/^measured: (.+)/.exec(reason)?.[1]}\n`))
    ),
    [],
  );
});

Deno.test("a sentence promises if it has a word without exception or a figure, outside code and headings", () => {
  const page =
    "# Only\n\nIt **never** waits. It [always\nruns](x.md). `only` it, read-only.\n\n```sh\nnever\n```\n\n" +
    "- Takes 5 ms!\n- 3 pages <!-- never -->\n\n| never | b |\n| --- | --- |\n| a. b | nothing |\n";
  const promises = ["It never waits.", "It always runs.", "Takes 5 ms!", "a. b | nothing"];
  assert.deepEqual(promisesIn(page), promises);
});

Deno.test("every campaign has a short form that the gate runs", async () => {
  const tests = await Promise.all(
    [
      ...[
        "campaign/campaign_slow_test.ts",
        "campaign/file_races_slow_test.ts",
        "campaign/writers_slow_test.ts",
        "parser/hostile_slow_test.ts",
      ],
      "sandbox/attacks_slow_test.ts",
    ].map((file) => Deno.readTextFile(`${ROOT}/tests/${file}`)),
  );
  const forms: Readonly<Record<string, string>> = {
    commands: "commandKills(",
    machine: "machineFaults(",
    attacks: "tryAttacks(",
    filters: "filterFaults(",
    approvals: "approvedCommands(",
    races: "fileRaces(",
    documents: "checkDocument(",
    edits: "checkEdits(",
  };
  const without = Object.keys(CAMPAIGNS).filter((name) =>
    !tests.some((text) => text.includes(forms[name] ?? `${name}(`))
  );
  assert.deepEqual(without, []);
});

Deno.test("the results of campaigns are added up, and only the latest run describes the current program", () => {
  const run = { campaign: "a", count: 5, seed: 1, seconds: 1, version: "1", day: "2026-11-28", found: "bad" };
  const sums = totals([run, { ...run, campaign: "b" }, { ...run, count: 2, found: null }]);
  assert.deepEqual([...sums], [["a", { count: 7, found: [] }], ["b", { count: 5, found: ["bad"] }]]);
});
