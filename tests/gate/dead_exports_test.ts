// No export is unused, and each module says what it is for.

import assert from "node:assert/strict";
import { deadExports, readSources } from "../../scripts/gate/dead_exports.ts";
import { OUTSIDE } from "../../scripts/gate/layers.ts";
import { ROOT } from "../../scripts/gate/root.ts";

const sources = await readSources(ROOT);
const dead = (files: Record<string, string>) => deadExports(new Map(Object.entries(files)));

Deno.test("every export of a module of the program is imported by another module", () => {
  assert.ok(sources.size > 1000);
  assert.deepEqual(deadExports(sources), []);
});

Deno.test("each module of the program states its responsibility in its first lines", () => {
  const silent = [...sources].filter(([path, text]) =>
    !["tests", "bench"].includes(path.split("/")[0]!) && !/^(\/\/ \S|\/\*\*\n \* \S)/.test(text)
  );
  assert.deepEqual(silent.map(([path]) => path), []);
});

Deno.test("an export counts as used for every form of import: one row per form", () => {
  for (
    const user of [
      'import { a } from "../base/a.ts";',
      'import {\n  a as b,\n  type c,\n} from "../base/a.ts";',
      'export { a } from "../base/a.ts";',
      'export * from "../base/a.ts";\nexport const b = a;',
      'import * as all from "../base/a.ts";\nall.a();',
      'const { a } = await import("../base/a.ts");',
      'let a: import(\n  "../base/a.ts"\n).a;',
    ]
  ) {
    assert.deepEqual(dead({ "base/a.ts": "export function a() {}\n", "tests/x.ts": user }), [], user);
  }
});

Deno.test("an export counts as unused if nothing imports it: one row per condition", () => {
  for (
    const [files, found] of [
      [{ "base/a.ts": "export const a = 1;\nexport const b = a;\n" }, ["base/a.ts: a", "base/a.ts: b"]],
      [{ "base/a.ts": "export async function a() {}\n" }, ["base/a.ts: a"]],
      [{ "base/a.ts": "export class A {}\n", "base/b.ts": 'import { B } from "./a.ts";' }, ["base/a.ts: A"]],
      [{ "base/a.ts": "export class A {}\n", "base/b.ts": 'import { A } from "./c.ts";' }, ["base/a.ts: A"]],
      [{ "base/a.ts": "export class A {}\n", "base/b.ts": 'await import("./a.ts");\nAB;' }, ["base/a.ts: A"]],
      [{ "base/a.ts": "export type A = 1;\n" }, ["base/a.ts: A"]],
      [{ "base/a.ts": "export type A = 1;\nexport function b(a: A) {}\n" }, ["base/a.ts: b"]],
      [{ "base/a.ts": "export class A {}\nexport const b = new A();\n" }, ["base/a.ts: b"]],
      [{ "base/a.generated.ts": "export const a = 1;\n" }, []],
      [{ "mod.ts": "export const a = 1;\n" }, []],
      [Object.fromEntries(OUTSIDE.map((room) => [`${room}/a.ts`, "export const a = 1;\n"])), []],
    ] as [Record<string, string>, string[]][]
  ) assert.deepEqual(dead(files), found);
});
