// Measurements are stored, and a page is generated from them with machine, day and missed goals.

import assert from "node:assert/strict";
import { rowsOf } from "../../bench/harness.ts";
import { type Measured, readRecord, record } from "../../bench/record/record.ts";
import { pageOf } from "../../scripts/generate/pages/performance.ts";

const machine = { deno: "2.9.6", system: "linux x86_64", processor: "Some CPU", cores: 2, load: 1 };

function measured(bench: string, value: number, changes: Partial<Measured> = {}): Measured {
  const rows = rowsOf(bench, [
    { case: "empty", value: 100, unit: "ms" },
    { case: "one | two", value, unit: "ms", against: "empty", goal: 1.35 },
    { case: "ours, wall", value: 1.01, unit: "× theirs", interval: [0.998, 1.02] },
  ]);
  return { bench, about: "whole processes", day: "2026-01-02", version: "0.1.0", machine, rows, ...changes };
}

Deno.test("a new measurement replaces only the earlier measurement of the same bench", async () => {
  const path = await Deno.makeTempFile();
  try {
    const file = new URL(`file://${path}`);
    await Deno.writeTextFile(file, "[]\n");
    await record(measured("startup", 123.456789), file);
    await record(measured("parse", 130), file);
    await record(measured("startup", 150), file);
    const kept = await readRecord(file);
    assert.deepEqual(kept.map(({ bench, rows }) => [bench, rows[1]!.value, rows[1]!.ok]), [
      ["startup", 150, false],
      ["parse", 130, true],
    ]);
    assert.deepEqual(kept[1], measured("parse", 130));
    await record(measured("startup", 123.456789), file);
    assert.equal((await readRecord(file))[0]!.rows[1]!.value, 123.5);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("the page names each bench with its machine, its day and whether its goals are met, and says if the machine was busy", () => {
  const page = pageOf([
    measured("startup", 150),
    measured("parse", 130, { machine: { ...machine, processor: "", cores: 1, load: 7 } }),
  ]);
  assert.ok(page.indexOf("## parse") < page.indexOf("## startup"));
  assert.match(page, /\n\| one \\\| two \| 150 ms \| 1\.50 × empty \| goal 1\.35, missed \|\n/);
  assert.match(page, /\n\| one \\\| two \| 130 ms \| 1\.30 × empty \| goal 1\.35, met \|\n/);
  assert.match(page, /\n\| ours, wall \| 1\.01 × theirs \| between 0\.998 and 1\.020 \| {2}\|\n/);
  assert.match(
    page,
    /Whole processes\. Measured on 2026-01-02 with version 0\.1\.0 and Deno 2\.9\.6 on 2 cores \(Some CPU, linux x86_64\)\.\n/,
  );
  assert.match(page, /on 1 core \(linux x86_64\)\. The machine was busy \(load 7\)/);
});

Deno.test("if two benches have the same day and machine, the page shows these once, above both; a bench with another day shows its own", () => {
  const page = pageOf([
    measured("startup", 150),
    measured("parse", 130),
    measured("calls", 130, { day: "2026-01-03" }),
  ]);
  assert.equal(page.split("2026-01-02").length - 1, 1);
  assert.ok(page.indexOf("measured on 2026-01-02") < page.indexOf("## calls"));
  assert.match(page, /## calls\n\nWhole processes\. Measured on 2026-01-03 with/);
});

Deno.test("the cells of a table stay separate, and the page ends with one line feed", () => {
  assert.match(pageOf([measured("startup", 150)]), /[^\n]\n$/);
  assert.match(pageOf([]), /[^\n]\n$/);
});
