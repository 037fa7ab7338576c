import assert from "node:assert/strict";
import { nameFilter } from "../../config/rules/name_filter.ts";

Deno.test("a star in a pattern of names matches any characters, including a slash and a dot", () => {
  const cases: readonly (readonly [readonly string[], readonly string[], string, boolean])[] = [
    [["*"], [], "repos/list", true],
    [["*"], [], "a.b c", true],
    [["repos/*"], [], "repos/list/all", true],
    [["repos/*"], [], "issues/list", false],
    [["*list"], [], "repos/list", true],
    [["get_{a,b}"], [], "get_b", true],
    [["*"], ["*/delete"], "repos/delete", false],
    [["*"], ["*/delete"], "repos/list", true],
    [[], [], "anything", false],
    // What cannot be read as a pattern stands for itself.
    [["{a"], [], "{a", true],
    [["{a"], [], "a", false],
  ];
  for (const [taken, leftOut, name, expected] of cases) {
    assert.equal(nameFilter(taken, leftOut)(name), expected, `${taken} without ${leftOut}: ${name}`);
  }
});
