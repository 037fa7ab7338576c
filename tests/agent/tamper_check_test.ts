// Decides, without files, which parts of a document commands could have written.

import assert from "node:assert/strict";
import {
  breachSince,
  findTampered,
  hashOf,
  isBlockTampered,
  type Leaves,
  mergeTampered,
  withoutTampered,
} from "../../agent/trust/tamper_check.ts";
import type { FileIdentity, TamperCheck, TamperedParts } from "../../cycle/types.ts";

const FILE: FileIdentity = { dev: 1, ino: 2, born: 3, links: 1 };
const THEN: TamperCheck = {
  name: "/l/a.chat",
  leads: "/d/a.chat",
  file: FILE,
  approved: { c1: "one" },
  block: "says",
};
const NOW: Leaves = { approved: { c1: "one" }, block: "says", narrows: false };

Deno.test("a document counts as unreachable for commands only if its name, its file and its number of links are unchanged", () => {
  const path = "/d/a.chat";
  const rows:
    readonly (readonly [now: Parameters<typeof breachSince>[1], then: TamperCheck, why: RegExp | null])[] = [
      [{ path, file: FILE }, THEN, null],
      [{ path: "/d/forged", file: FILE }, THEN, /\/l\/a\.chat was replaced/],
      [{ path, file: { ...FILE, dev: 9 } }, THEN, /the file was replaced/],
      [{ path, file: { ...FILE, ino: 9 } }, THEN, /the file was replaced/],
      [{ path, file: { ...FILE, born: 9 } }, THEN, /the file was replaced/],
      [{ path, file: { ...FILE, links: 2 } }, THEN, /another name/],
      [{ path, file: FILE }, { ...THEN, file: { ...FILE, links: 2 } }, /another name/],
      [{ path, file: null }, THEN, /the file was replaced/],
      [{ path, file: FILE }, { ...THEN, file: null }, /the file was replaced/],
      [{ path, file: null }, { ...THEN, file: null }, null],
    ];
  for (const [now, then, why] of rows) {
    const found = breachSince(then, now);
    if (why === null) assert.equal(found, null);
    else assert.match(found ?? "no breach", why);
  }
});

Deno.test("only a new or changed approval and a changed block count as tampered", () => {
  const rows: readonly (readonly [
    now: Partial<Leaves>,
    then: Partial<TamperCheck>,
    found: Partial<TamperedParts> | null,
  ])[] = [
    [{}, {}, null],
    [{ approved: {} }, {}, null],
    [{ approved: { c1: "one", c2: "two" } }, {}, { calls: { c2: "two" }, block: null }],
    [{ approved: { c1: "another" } }, {}, { calls: { c1: "another" }, block: null }],
    [{ approved: { constructor: "x" } }, { approved: {} }, { calls: { constructor: "x" }, block: null }],
    [{ block: "says more" }, {}, { calls: {}, block: "says more" }],
    [{ block: "" }, {}, { calls: {}, block: "" }],
    [{ block: "says", narrows: true }, { block: "" }, null],
    [{ block: "says", narrows: false }, { block: "" }, { calls: {}, block: "says" }],
    [{ block: "says less", narrows: true }, {}, { calls: {}, block: "says less" }],
  ];
  for (const [now, then, found] of rows) {
    const expected = found === null ? null : { why: "so", ...found };
    assert.deepEqual(findTampered({ ...THEN, ...then }, { ...NOW, ...now }, "so"), expected);
  }
});

Deno.test("parts that were reported as tampered are still reported when more tampered parts are found", () => {
  const one: TamperedParts = { why: "one", calls: { c1: "x" }, block: "b" };
  const two: TamperedParts = { why: "two", calls: { c2: "y" }, block: null };
  assert.equal(mergeTampered(null, null), null);
  assert.deepEqual(mergeTampered(one, null), one);
  assert.deepEqual(mergeTampered(null, two), two);
  assert.deepEqual(mergeTampered(one, two), { why: "two", calls: { c1: "x", c2: "y" }, block: "b" });
  assert.deepEqual(mergeTampered(two, { ...one, block: "c" }), {
    why: "one",
    calls: { c2: "y", c1: "x" },
    block: "c",
  });
});

Deno.test("before commands start, flemma trusts all text except the parts already known as tampered", () => {
  assert.deepEqual(withoutTampered(NOW, null), { approved: { c1: "one" }, block: "says" });
  const tampered: TamperedParts = { why: "so", calls: { c1: "one" }, block: "says" };
  const left = withoutTampered({ ...NOW, approved: { c1: "one", c2: "two" } }, tampered);
  assert.deepEqual(left.approved, { c2: "two" });
  assert.notEqual(left.block, "says");
  // The person has changed both since.
  assert.deepEqual(withoutTampered(NOW, { why: "so", calls: { c1: "other" }, block: "other" }), {
    approved: { c1: "one" },
    block: "says",
  });
});

Deno.test("if the text of a tampered block changes after the check, the block no longer counts as tampered", () => {
  const tampered: TamperedParts = { why: "so", calls: {}, block: "says" };
  assert.equal(isBlockTampered({ block: "says" }, tampered), true);
  assert.equal(isBlockTampered({ block: "other" }, tampered), false);
  assert.equal(isBlockTampered({ block: "says" }, { ...tampered, block: null }), false);
  assert.equal(isBlockTampered({ block: "says" }, null), false);
});

Deno.test("names of built-in object properties are not taken for call ids", () => {
  assert.equal(hashOf({}, "constructor"), undefined);
  assert.equal(hashOf({ c1: "one" }, "c1"), "one");
});
