// The project keeps its layers, and each way to break them is reported.

import assert from "node:assert/strict";
import { checkTree, houseFaults } from "../../scripts/gate/layer_faults.ts";
import { FLOORS, INSIDE, ROOMS } from "../../scripts/gate/layers.ts";
import { readHouse } from "../../scripts/gate/module_graph.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { inFolder } from "../folder.ts";

/** The faults of modules, given with what each imports, and of folders, given with the number of their entries. */
function faults(modules: Record<string, string[]>, folders: Record<string, number> = {}): string[] {
  return houseFaults({
    modules: new Map(Object.entries(modules)),
    folders: new Map(Object.entries(folders)),
  });
}

/** Reads a house made of the given files. */
async function house(files: Record<string, string>) {
  return await inFolder(async (root) => {
    for (const [path, text] of Object.entries(files)) {
      const folder = path.slice(0, path.lastIndexOf("/") + 1);
      await Deno.mkdir(`${root}/${folder}`, { recursive: true });
      await Deno.writeTextFile(`${root}/${path}`, text);
    }
    return await readHouse(root);
  });
}

Deno.test("the project's own imports obey the layers", async () => {
  assert.deepEqual(await checkTree(ROOT), []);
});

Deno.test("an import against the layers is a fault that names both modules", () => {
  assert.deepEqual(faults({ "parser/mod.ts": ["config/load.ts"], "config/load.ts": [] }), [
    "parser/mod.ts imports config/load.ts: parser may not use config",
  ]);
});

Deno.test("a module may import modules of a lower floor and modules of its own folder", () => {
  assert.deepEqual(
    faults({
      "cycle/plan/a.ts": ["parser/view/b.ts", "cycle/plan/c.ts"],
      "cycle/plan/c.ts": [],
      "parser/view/b.ts": [],
    }),
    [],
  );
});

Deno.test("inside a room, importing a higher floor or a neighbor on the same floor is a fault", () => {
  assert.deepEqual(faults({ "cycle/plan/plan.ts": ["cycle/execute/runs.ts"], "cycle/execute/runs.ts": [] }), [
    "cycle/plan/plan.ts imports cycle/execute/runs.ts: in cycle, plan may not use execute",
  ]);
  assert.deepEqual(faults({ "cycle/send/send.ts": ["cycle/execute/runs.ts"], "cycle/execute/runs.ts": [] }), [
    "cycle/send/send.ts imports cycle/execute/runs.ts: in cycle, send may not use execute",
  ]);
});

Deno.test("a file or folder that the table of floors does not list is a fault, even if no module uses it", () => {
  assert.deepEqual(faults({ "cycle/novel.ts": [] }), [
    "cycle/novel.ts stands on no floor of cycle: add novel.ts to FLOORS",
  ]);
  assert.deepEqual(faults({ "cycle/novel/a.ts": [] }), [
    "cycle/novel/a.ts stands on no floor of cycle: add novel to FLOORS",
  ]);
});

Deno.test("a top folder or file that the table of rooms does not list is a fault", () => {
  assert.deepEqual(
    faults({ "helpers/a.ts": [], "other.ts": [], "base/problem.ts": [], "base/novel/a.ts": [] }),
    [
      "helpers is no room: add it to ROOMS",
      "other.ts is no room: add it to ROOMS",
      "base/novel/a.ts stands on no floor of base: add novel to FLOORS",
    ],
  );
});

Deno.test("only the listed modules, and the folder's own files, may import from a closed folder", () => {
  const scanned = { "parser/scan/a.ts": ["parser/scan/b.ts"], "parser/scan/b.ts": [] };
  assert.deepEqual(faults({ ...scanned, "parser/text/chunk.ts": ["parser/scan/a.ts"] }), []);
  assert.deepEqual(faults({ ...scanned, "parser/tree/nodes.ts": ["parser/scan/a.ts"] }), [
    "parser/tree/nodes.ts imports parser/scan/a.ts: parser/scan is closed to parser/tree",
  ]);
  assert.deepEqual(faults({ ...scanned, "advanced.ts": ["parser/scan/b.ts"] }), [
    "advanced.ts imports parser/scan/b.ts: parser/scan is closed to advanced.ts",
  ]);
});

Deno.test("a circular import is reported with all imports of the circle", () => {
  assert.deepEqual(
    faults({
      "tools/approval/a.ts": ["tools/approval/b.ts"],
      "tools/approval/b.ts": ["tools/approval/a.ts"],
    }),
    ["circle: tools/approval/a.ts -> tools/approval/b.ts -> tools/approval/a.ts"],
  );
});

Deno.test("importing a file outside all rooms is a fault unless the file is data", () => {
  for (
    const target of ["tools/approval/gone.ts", "scripts/gate/root.ts", "tools/other.tsx", "tools/other.mts"]
  ) {
    assert.deepEqual(faults({ "tools/approval/a.ts": [target, "tools/approval/data.json"] }), [
      `tools/approval/a.ts imports ${target}, which does not exist in a room`,
    ]);
  }
});

Deno.test("a source folder has at most 16 entries, but a test folder may have more", () => {
  assert.deepEqual(faults({}, { "tools": 16, "scripts/gate": 17, "tests/cli": 30 }), [
    "scripts/gate has 17 entries: sort it, 16 are enough for a folder",
  ]);
});

Deno.test("all tables of layers contain the same rooms, and each room uses only earlier rooms", () => {
  const rooms = Object.keys(ROOMS);
  for (const [at, room] of rooms.entries()) {
    for (const below of ROOMS[room]!) {
      assert.ok(rooms.indexOf(below) < at && rooms.includes(below), `${room} ${below}`);
    }
  }
  for (const room of Object.keys(FLOORS)) assert.ok(rooms.includes(room), room);
  for (const closed of Object.keys(INSIDE)) {
    const [room = "", part = ""] = closed.split("/");
    assert.ok(FLOORS[room]?.flat().includes(part), closed);
  }
});

Deno.test("every form of import counts: types, dynamic imports, side effects, data, and re-exports", async () => {
  for (
    const text of [
      'import type { Cycle } from "../cycle/cycle.ts";',
      'export type C = import("../cycle/cycle.ts").Cycle;',
      'export { Cycle } from "../cycle/cycle.ts";',
      'export * from "../cycle/cycle.ts";',
      'export const late = () => import("../cycle/cycle.ts");',
      "export const late = () => import(`../cycle/cycle.ts`);",
      "import '../cycle/cycle.ts';",
      'import {\n  Cycle, // "\n} from "../cycle/cycle.ts";',
      'export const text = `/*`;\nimport { Cycle } from "../cycle/cycle.ts";\nexport const more = `*/`;',
    ]
  ) {
    const { modules } = await house({ "tools/a.ts": text, "cycle/cycle.ts": "export class Cycle {}" });
    assert.deepEqual(modules.get("tools/a.ts"), ["cycle/cycle.ts"], text);
  }
  const data = await house({
    "tools/a.ts": 'import x from "./x.json" with { type: "json" };',
    "tools/x.json": "1",
  });
  assert.deepEqual(data.modules.get("tools/a.ts"), ["tools/x.json"]);
});

Deno.test("text that only looks like an import is not treated as an import", async () => {
  const text = [
    '// import { a } from "./b.ts";',
    '/* import "./b.ts"; */',
    "const text = `",
    'import "./b.ts";`;',
    "const regex = /import('.\\/b.ts')/;",
  ].join("\n");
  const { modules } = await house({ "tools/a.ts": text, "tools/b.ts": "" });
  assert.deepEqual(modules.get("tools/a.ts"), []);
});

Deno.test("the check of layers also reads modules that nothing imports, except those of tests, benches and scripts", async () => {
  const { modules, folders } = await house({
    "tools/alone.ts": "",
    "tests/a_test.ts": "",
    "bench/b.ts": "",
    "scripts/c.ts": "",
    ".cache/d.ts": "",
    "dist/npm/lib/mod.d.ts": "",
    "docs/page.md": "",
    "cli.ts": 'import "./tools/gone.ts";',
  });
  assert.deepEqual([...modules], [["cli.ts", ["tools/gone.ts"]], ["tools/alone.ts", []]]);
  assert.deepEqual([...folders].sort(), [["bench", 1], ["scripts", 1], ["tests", 1], ["tools", 1]]);
});

Deno.test("if a module cannot be parsed, the check of layers stops and does not pass", async () => {
  await assert.rejects(house({ "tools/a.ts": "import {" }), /a\.ts/);
});
