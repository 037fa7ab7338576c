// An exported name of the program has one home.

import assert from "node:assert/strict";
import { readSources } from "../../scripts/gate/dead_exports.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { sharedExports } from "../../scripts/gate/unique_exports.ts";

const shared = (files: Record<string, string>) => sharedExports(new Map(Object.entries(files)));

Deno.test("no two modules of the program export the same name", async () => {
  const sources = await readSources(ROOT);
  assert.ok(sources.size > 1000);
  assert.deepEqual(sharedExports(sources), []);
});

Deno.test("a second export of the same name is found, whatever kind of thing it exports", () => {
  for (
    const [first, second] of [
      ["export const a = 1;\n", "export function a() {}\n"],
      ["export async function a() {}\n", "export function* a() {}\n"],
      ["export interface a {}\n", "export type a = 1;\n"],
      ["export class a {}\n", "export abstract class a {}\n"],
      ["export let a = 1;\n", "export enum a {}\n"],
    ] as const
  ) {
    assert.deepEqual(
      shared({ "base/b.ts": first, "agent/a.ts": second }),
      ["a: agent/a.ts, base/b.ts"],
      first,
    );
  }
});

Deno.test("a name counts as exported once if other modules do not export it or only re-export it", () => {
  const home = "export const a = 1;\n";
  for (const other of ["const a = 1;\n", 'export { a } from "./b.ts";\n', 'export * from "./b.ts";\n']) {
    assert.deepEqual(shared({ "base/b.ts": home, "base/c.ts": other }), [], other);
  }
  assert.deepEqual(shared({ "base/b.ts": "export interface a {}\nexport const a: a = {};\n" }), []);
  assert.deepEqual(shared({ "base/b.ts": home, "tests/b.ts": home, "base/b.generated.ts": home }), []);
});

Deno.test("only modules of the same kind may export the same entry function", () => {
  const run = "export function run() {}\n";
  const request = "export function buildRequest() {}\n";
  const frames = "export function replyFrames() {}\n";
  const refusals = "export function refusals() {}\n";
  assert.deepEqual(
    shared({
      "commands/a.ts": run,
      "commands/b/c.ts": run,
      "providers/a/request.ts": request,
      "providers/b/request.ts": request,
      "providers/replay/frames.ts": frames,
      "providers/replay/a/frames.ts": frames,
      "providers/replay/strict/a.ts": refusals,
      "providers/replay/strict/b.ts": refusals,
    }),
    [],
  );
  assert.deepEqual(shared({ "commands/a.ts": run, "base/a.ts": run }), ["run: base/a.ts, commands/a.ts"]);
  for (const text of [request, frames, refusals]) {
    assert.equal(shared({ "providers/replay/strict/a.ts": text, "providers/a/b.ts": text }).length, 1, text);
  }
});
