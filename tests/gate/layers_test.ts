import assert from "node:assert/strict";
import { checkTree, importsOf, layerFaults } from "../../scripts/gate/layers.ts";
import { ROOT } from "../../scripts/gate/root.ts";

const tree = (modules: Record<string, string>) => new Map(Object.entries(modules));

Deno.test("the project itself keeps its layers and has no circular import", async () => {
  assert.deepEqual(await checkTree(ROOT), []);
});

Deno.test("an import against the layers is a fault that names both modules", () => {
  const faults = layerFaults(tree({
    "parser/mod.ts": 'import { loadSettings } from "../config/load.ts";',
    "config/load.ts": "export const loadSettings = 1;",
  }));
  assert.deepEqual(faults, ["parser/mod.ts imports config/load.ts: parser may not use config"]);
});

Deno.test("type imports, re-exports and dynamic imports count for the layers too", () => {
  for (
    const text of [
      'import type { Cycle } from "../cycle/cycle.ts";',
      'export { Cycle } from "../cycle/cycle.ts";',
      'export * from "../cycle/cycle.ts";',
      'const late = await import("../cycle/cycle.ts");',
      'import "../cycle/cycle.ts";',
      'import {\n  Cycle,\n} from "../cycle/cycle.ts";',
    ]
  ) {
    const faults = layerFaults(tree({ "tools/a.ts": text, "cycle/cycle.ts": "export class Cycle {}" }));
    assert.deepEqual(faults, ["tools/a.ts imports cycle/cycle.ts: tools may not use cycle"], text);
  }
});

Deno.test("imports downwards and inside a room are fine", () => {
  const faults = layerFaults(tree({
    "cycle/plan/a.ts": 'import { x } from "../../parser/view/b.ts";\nimport { y } from "./c.ts";',
    "cycle/plan/c.ts": "export const y = 1;",
    "parser/view/b.ts": "export const x = 1;",
  }));
  assert.deepEqual(faults, []);
});

Deno.test("inside a room only lower floors may be used, and a file without a floor is told", () => {
  const faults = layerFaults(tree({
    "cycle/plan/plan.ts": 'import type { Runs } from "../execute/runs.ts";',
    "cycle/execute/runs.ts": 'import "../novel.ts";',
    "cycle/novel.ts": "",
  }));
  assert.deepEqual(faults, [
    "cycle/plan/plan.ts imports cycle/execute/runs.ts: in cycle, plan may not use execute",
    "cycle/novel.ts stands on no floor of cycle: add novel.ts to FLOORS",
  ]);
});

Deno.test("a circle is told with its whole way; a circle of types is one too", () => {
  const circle = {
    "tools/approval/a.ts": 'import { b } from "./b.ts";',
    "tools/approval/b.ts": 'import { a } from "./a.ts";',
  };
  assert.deepEqual(layerFaults(tree(circle)), [
    "circle: tools/approval/a.ts -> tools/approval/b.ts -> tools/approval/a.ts",
  ]);
  const types = { ...circle, "tools/approval/b.ts": 'import type { a } from "./a.ts";' };
  assert.deepEqual(layerFaults(tree(types)), [
    "circle: tools/approval/a.ts -> tools/approval/b.ts -> tools/approval/a.ts",
  ]);
});

Deno.test("an import of a missing module is a fault", () => {
  const faults = layerFaults(tree({ "tools/approval/a.ts": 'import { b } from "./gone.ts";' }));
  assert.deepEqual(faults, [
    "tools/approval/a.ts imports tools/approval/gone.ts, which does not exist in a room",
  ]);
});

Deno.test("commented imports do not count", () => {
  assert.deepEqual(importsOf('// import { a } from "./a.ts";\n/* import "./b.ts"; */\n'), []);
});
