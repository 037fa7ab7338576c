// Globs over whole paths.

import assert from "node:assert/strict";
import { readGlob } from "../../base/text/glob.ts";

function fits(glob: string, path: string, anyCase = false): boolean {
  const read = readGlob(glob);
  if (!read.ok) throw new Error(read.problem);
  return read.value.matches(path, anyCase);
}

Deno.test("a wildcard matches inside one path component, and a double wildcard matches any number of components", () => {
  const rows: [glob: string, path: string, fits: boolean][] = [
    ["/a", "/a", true],
    ["/a", "/ab", false],
    ["/*", "/a.b", true],
    ["/*", "/", true],
    ["/*", "/a/b", false],
    ["/a*c", "/abbc", true],
    ["/a*c", "/ab/c", false],
    ["/?", "/ä", true],
    ["/?", "//", false],
    ["/**", "", true],
    ["/**", "/a/b", true],
    ["/d/**", "/d", true],
    ["/d/**", "/d/", true],
    ["/d/**", "/d/a/b", true],
    ["/d/**", "/da", false],
    ["/**/x", "/x", true],
    ["/**/x", "/a/b/x", true],
    ["/**/x", "/ax", false],
    ["/a/**/b", "/a/b", true],
    ["/a/**/b", "/a/x/y/b", true],
    ["/a/**/b", "/ab", false],
    ["/a**z", "/ab/cz", true],
    ["/**/**/x", "/x", true],
    ["/[ab]", "/b", true],
    ["/[!ab]", "/b", false],
    ["/[^ab]", "/c", true],
    ["/[a-c]x", "/bx", true],
    ["/[a-]", "/-", true],
    ["/[]a]", "/]", true],
    ["/[!a]", "//", false],
    ["/{a,b}c", "/bc", true],
    ["/{a,b}c", "/c", false],
    ["/{a,{b,c}}", "/c", true],
    ["/{a/b,c}", "/a/b", true],
    ["/{a,}b", "/b", true],
    ["/{a,b}/{c,d}", "/b/c", true],
    ["/\\*", "/*", true],
    ["/\\*", "/a", false],
    ["/\\{a,b}", "/{a,b}", true],
    ["/a}", "/a}", true],
    ["/a,b", "/a,b", true],
    ["/.*", "/.a", true],
    ["/*", "/.a", true],
    ["/a.b", "/axb", false],
    ["/(a)+$", "/(a)+$", true],
  ];
  for (const [glob, path, expected] of rows) assert.equal(fits(glob, path), expected, `${glob} of ${path}`);
});

Deno.test("a case-insensitive glob matches both cases, in brackets too", () => {
  assert.ok(fits("/Ab*/[c-e]", "/aBx/D", true));
  assert.ok(!fits("/Ab*/[c-e]", "/aBx/D"));
});

Deno.test("an invalid glob is reported", () => {
  for (
    const [glob, stated] of [
      ["[a", /bracket \[ is not closed/],
      ["{a", /brace \{ is not closed/],
      ["{a,{b}", /brace \{ is not closed/],
      ["a\\", /it ends with a backslash/],
      ["[b-a]", /range in its brackets is reversed/],
      ["{a,b}".repeat(7), /more than 64 patterns/],
      ["{a}".repeat(2000), /more than 4096 characters/],
      ["{".repeat(20_000), /more than 4096 characters/],
      [`{a,b,c,d,e}${"x".repeat(4000)}`, /braces expand to too much text/],
    ] as const
  ) {
    const read = readGlob(glob);
    assert.match(read.ok ? "read" : read.problem, stated, glob);
  }
});

Deno.test("matching a pattern of many wildcards against a long path terminates quickly", () => {
  const glob = `${"/**/a*a*a*".repeat(40)}/x`;
  assert.equal(fits(glob, `/${"aaaaaaaaaa/".repeat(400)}y`), false);
  assert.equal(fits(`${"**".repeat(50)}x`, "a/".repeat(2000)), false);
});

Deno.test("states that are left out change no answer: one row per condition", () => {
  const rows: readonly (readonly [glob: string, path: string, expected: boolean])[] = [
    // The folders at the end begin inside a component, which may be the last one.
    ["*/**/*b**/", "/.b./b./b", true],
    // A wildcard of an earlier component goes on after a slash.
    ["/*/b*c", "/bxc/a/bc", false],
    ["/**a/b*c", "/a/bxc/a/bc", true],
    ["/**b*c", "/bx/bc", true],
    ["/*a*b", "/aab/b", false],
    ["/**/a*/**/b", "/a/a/c/b", true],
  ];
  for (const [glob, path, expected] of rows) assert.equal(fits(glob, path), expected, `${glob} of ${path}`);
});
