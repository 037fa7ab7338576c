// SECURITY.md names every place in which something is kept: a new one that nobody told of fails here.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { walk } from "../../scripts/mutate/walk.ts";

const PLACE = /\$\{(?:stateFolder|runtimeFolder)\([^`]*?\)\}\/([a-z_-]+)/g;

async function placesIn(folder: string): Promise<string[]> {
  const places: string[] = [];
  for await (const path of walk(`${ROOT}/${folder}`, ".ts")) {
    for (const [, name] of (await Deno.readTextFile(path)).matchAll(PLACE)) places.push(name!);
  }
  return places;
}

Deno.test("every folder and file of the state stands in the table of SECURITY.md", async () => {
  const rooms = ["agent", "commands", "config", "cycle", "providers", "sandbox", "tools"];
  const places = new Set((await Promise.all(rooms.map(placesIn))).flat());
  assert.ok(places.size >= 12, [...places].join());
  const page = await Deno.readTextFile(`${ROOT}/SECURITY.md`);
  const missing = [...places].filter((name) => !page.includes(`\`${name}/\``) && !page.includes(`\`${name}.json\``));
  assert.deepEqual(missing, []);
});
