// No comment and no test name refers to a page or list that is not in the repository.

import assert from "node:assert/strict";
import { referencesIn } from "../../scripts/gate/references.ts";
import { ROOT } from "../../scripts/gate/root.ts";

/** Files that show such references as examples. */
const OWN = ["scripts/gate/references.ts", "tests/gate/references_test.ts"];

Deno.test("no source file or test refers to a numbered page that does not exist", async () => {
  const { stdout } = await new Deno.Command("git", { args: ["ls-files", "-z"], cwd: ROOT }).output();
  const paths = new TextDecoder().decode(stdout).split("\0").filter((path) =>
    /\.(ts|js|cjs|vim|el|kak|lua)$/.test(path) && !path.includes(".generated.") && !OWN.includes(path)
  );
  assert.ok(paths.length > 1000);
  const found = await Promise.all(
    paths.map(async (path) => referencesIn(path, await Deno.readTextFile(`${ROOT}/${path}`))),
  );
  assert.deepEqual(found.flat(), []);
});

Deno.test("each form of a reference to a numbered page is found, and text that only looks like one is not", () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ["// Becomes visible (S5).", true],
    ["// What a document may say (known fault 71).", true],
    ["// A6: an unknown tool", true],
    ['Deno.test("fault 13: members are refused"', true],
    ['what: "P10: a call that is nested too deeply"', true],
    ["// The table of tool-cycle 5.4.", true],
    ["// cli section 9, line by line", true],
    ["/** The prompts that come along (tools 7.4). */", true],
    ["// Kimi K3 (2026)", false],
    ["// Vim 9.0 cuts documents at 64 KiB", false],
    ['name: "git 2.39"', false],
    ["// See docs/reference/tools.md.", false],
  ];
  for (const [line, expected] of rows) assert.equal(referencesIn("a.ts", line).length > 0, expected, line);
});
