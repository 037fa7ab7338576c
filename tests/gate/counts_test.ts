import assert from "node:assert/strict";
import { exampleSources } from "../../scripts/gate/documentation.ts";
import {
  countOf,
  countsOfLines,
  groupsOf,
  hangingTest,
  misplacedDeno,
  slowTests,
  summaryOf,
  total,
} from "../../scripts/gate/tests.ts";
import { testInFolder as test } from "../folder.ts";

Deno.test("the counts of a test run are read from the last summary it printed", () => {
  const text =
    "ok | 3 passed | 0 failed (1s)\nFAILED | 5 passed | 2 failed | 1 ignored (2s)\n\nerror: Test failed\n";
  assert.deepEqual(summaryOf(text, 1), { passed: 5, failed: 2 });
});

Deno.test("a test run that exits with an error counts as a failure even if no test failed", () => {
  assert.deepEqual(summaryOf("ok | 3 passed | 0 failed (1s)\n", 1), { passed: 3, failed: 1 });
  assert.deepEqual(summaryOf("error: no module\n", 1), { passed: 0, failed: 1 });
  assert.deepEqual(summaryOf("ok | 3 passed | 0 failed (1s)\n", 0), { passed: 3, failed: 0 });
});

Deno.test("a step of the test run that contains no tests adds one to the failures if it fails, and otherwise adds nothing", () => {
  assert.deepEqual(total([countOf(true), countOf(false), { passed: 2, failed: 1 }]), {
    passed: 2,
    failed: 2,
  });
});

test("slow tests are found in every test folder by their file names", async (root) => {
  for (
    const path of ["tests/a_slow_test.ts", "tests/b_test.ts", "tests/c/d/e_slow_test.ts", "x_slow_test.ts"]
  ) {
    await Deno.mkdir(`${root}/tests/c/d`, { recursive: true });
    await Deno.writeTextFile(`${root}/${path}`, "");
  }
  assert.deepEqual(await slowTests(root), ["tests/a_slow_test.ts", "tests/c/d/e_slow_test.ts"]);
});

Deno.test("test files are grouped by top folder: each file is in one group, and a large folder has several groups", () => {
  const many = Array.from({ length: 30 }, (_, at) => `tests/a/${at}_test.ts`);
  const groups = groupsOf([...many, "tests/b/c/x_test.ts"]);
  assert.deepEqual([...groups.keys()], ["a_1", "a_2", "a_3", "b_1"]);
  assert.deepEqual([...groups.values()].flat().sort(), [...many, "tests/b/c/x_test.ts"].sort());
  assert.deepEqual(groups.get("a_1")!.length, 10);
});

test("examples are collected from every room, but not from outside the library's documentation", async (root) => {
  for (const folder of ["agent/views", "tests", "docs"]) {
    await Deno.mkdir(`${root}/${folder}`, { recursive: true });
  }
  const example = "/**\n * Text\n *\n * ```ts\n * 1;\n * ```\n */\n";
  for (const path of ["mod.ts", "agent/views/a.ts", "tests/a.ts"]) {
    await Deno.writeTextFile(`${root}/${path}`, example);
  }
  await Deno.writeTextFile(`${root}/agent/none.ts`, "// nothing\n");
  assert.deepEqual(await exampleSources(root), ["agent/views/a.ts", "mod.ts", "docs/reference/replay.md"]);
});

Deno.test("a test that hangs is found, and the results before it are counted", () => {
  const before = "./a_test.ts => one ... ok (3s)\n./b_test.ts => two ... FAILED (1m2s)\n" +
    "'three' has been running for over (8m0s)\n";
  assert.equal(hangingTest(before), null);
  const printed = `${before}./a_test.ts => four ... ok (16m0s)\n'three' has been running for over (16m0s)\n`;
  assert.equal(hangingTest(printed), "three");
  assert.deepEqual(countsOfLines(printed), { passed: 2, failed: 2 });
});

Deno.test("a Deno below /tmp is refused before the tests, and no other", () => {
  assert.match(misplacedDeno("/tmp/a/deno") ?? "", /^Deno is below \/tmp \(\/tmp\/a\/deno\).*\nMove Deno/);
  for (const path of ["/usr/bin/deno", "/tmpfs/deno", "/var/tmp/deno", "/home/tmp/deno"]) {
    assert.equal(misplacedDeno(path), null, path);
  }
});
