// What the pages say about the code is true: files they name exist, and the table of rooms is the one that the gate
// uses.

import assert from "node:assert/strict";
import { OUTSIDE, ROOMS } from "../../scripts/gate/layers.ts";
import { readHouse } from "../../scripts/gate/module_graph.ts";
import { documentationPages } from "../../scripts/gate/documentation.ts";
import { ROOT } from "../../scripts/gate/root.ts";

const pages = await documentationPages();

/** The files and folders of this project that a page names in code type. */
function named(page: string): string[] {
  const words = [...page.matchAll(/`([^`\n]+)`/g)].map(([, word]) => word!);
  const rooms = new RegExp(
    `^(${[...Object.keys(ROOMS), "scripts", "tests", "bench", "examples"].join("|")})(/[\\w./]*)?$`,
  );
  return words.filter((word) => rooms.test(word) && (word.includes("/") || word.endsWith(".ts")));
}

Deno.test("every file that is named on a page of the docs exists", async () => {
  const gone: string[] = [];
  let count = 0;
  for (const page of pages) {
    for (const path of named(await Deno.readTextFile(`${ROOT}/${page}`))) {
      count++;
      // A room to come, and a file that bazel runs in projects of others.
      if (path === "editors/" || path === "tools/bazel") continue;
      const found = await Deno.stat(`${ROOT}/${path}`).catch(() => null);
      if (found === null) gone.push(`${page}: ${path}`);
    }
  }
  assert.deepEqual(gone, []);
  assert.ok(count > 50, `only ${count} names were found`);
});

Deno.test("every module that is named in a comment of another module exists", async () => {
  const { modules } = await readHouse(ROOT);
  const gone: string[] = [];
  for (const path of modules.keys()) {
    for (const line of (await Deno.readTextFile(`${ROOT}/${path}`)).split("\n")) {
      if (!/^\s*(\/\/|\/?\*)/.test(line)) continue;
      for (const [, name] of line.matchAll(/(?:^|[\s(`])([a-z_]+(?:\/[a-z_]+)*\.ts)\b/g)) {
        if (![...modules.keys()].some((known) => known === name || known.endsWith(`/${name}`))) {
          gone.push(`${path}: ${name}`);
        }
      }
    }
  }
  // Files of the scripts and tests that comments point at.
  assert.deepEqual(gone.filter((one) => !/: (scripts|tests|bench)\//.test(one)), []);
});

Deno.test("pages and comments name files of the project by their full paths", async () => {
  const page = await Deno.readTextFile(`${ROOT}/docs/project/architecture.md`);
  const bare = [...page.matchAll(/`([a-z_]+\.ts)`/g)].map(([, word]) => word!)
    .filter((word) => !Object.hasOwn(ROOMS, word) && !["mod.ts", "types.ts"].includes(word));
  assert.deepEqual(bare, []);
});

Deno.test("every function that docs/project/architecture.md names with a file is in that file", async () => {
  const page = await Deno.readTextFile(`${ROOT}/docs/project/architecture.md`);
  const file = "`([a-z_]+(?:/[a-z_]+)+\\.ts)`";
  const behind = [...page.matchAll(new RegExp(`${file},? \`(#?[A-Za-z]+)\``, "g"))];
  const before = [...page.matchAll(new RegExp(`\`(#?[A-Za-z]+)\` in ${file}`, "g"))];
  const named = [
    ...behind.map(([, path, name]) => [path!, name!]),
    ...before.map(([, name, path]) => [path!, name!]),
  ];
  assert.ok(named.length >= 10, `only ${named.length} were found`);
  const gone: string[] = [];
  for (const [path = "", name = ""] of named) {
    const text = await Deno.readTextFile(`${ROOT}/${path}`);
    if (!new RegExp(`${name}\\b`).test(text)) gone.push(`${path}: ${name}`);
  }
  assert.deepEqual(gone, []);
});

Deno.test("the table of rooms in docs/project/architecture.md equals the table that the gate enforces", async () => {
  const page = await Deno.readTextFile(`${ROOT}/docs/project/architecture.md`);
  const rows = [...page.matchAll(/^\| `([a-z]+)(\/|\.ts)` \| .* \|(.*)\|$/gm)].map(([, name, end, uses]) => [
    end === "/" ? name! : `${name}.ts`,
    uses!.trim() === "" ? [] : uses!.trim().split(", "),
  ]);
  assert.deepEqual(Object.fromEntries(rows), ROOMS);
});

Deno.test("docs/project/architecture.md has one row for each folder inside a top folder of the program", async () => {
  const page = await Deno.readTextFile(`${ROOT}/docs/project/architecture.md`);
  const rows = [...page.matchAll(/^\| `([a-z]+\/[a-z_/]+)` \| [^|]+ \|$/gm)].map(([, folder]) => folder!);
  const { folders } = await readHouse(ROOT);
  const there = [...folders.keys()].filter((folder) =>
    folder.includes("/") && !OUTSIDE.includes(folder.split("/")[0]!)
  );
  assert.deepEqual(rows.toSorted(), there.toSorted());
});
