// The tests in the list of faults exist, and every campaign has a short form in the gate.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { CAMPAIGNS } from "../campaign/campaigns.ts";
import { totals } from "../campaign/record.ts";
import { readReliability } from "../reliability.ts";

Deno.test("every fault in the list has a test, and every test in it exists", async () => {
  const texts = new Map<string, string>();
  const missing: string[] = [];
  for (const { promise, faults } of await readReliability()) {
    assert.ok(faults.length > 0, promise);
    for (const { fault, tests } of faults) {
      assert.ok(tests.length > 0, fault);
      for (const { file, name } of tests) {
        const text = texts.get(file) ?? await Deno.readTextFile(`${ROOT}/tests/${file}`).catch(() => "");
        texts.set(file, text);
        // A name stands as a whole text in its file: in quotes of either kind, or as the key of a row.
        const spellings = [`"${name.replaceAll('"', '\\"')}"`, `\`${name}\``];
        if (!spellings.some((spelling) => text.includes(spelling))) missing.push(`${file}: ${name}`);
      }
    }
  }
  assert.deepEqual(missing, []);
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
