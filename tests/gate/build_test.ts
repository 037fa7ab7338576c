// What is loaded late is cut off by what an import comes to, not by how it is written, and nothing is cut in vain.

import assert from "node:assert/strict";
import * as esbuild from "esbuild";
import { bundle, bundleProgram, type Program } from "../../scripts/build/bundle.ts";

/** Bundles the given modules; answers the text of each file that was made. */
async function bundled(files: Record<string, string>, late: Program["late"]) {
  const root = await Deno.makeTempDir({ prefix: "flemma-build-" });
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(`${root}/${path.slice(0, path.lastIndexOf("/") + 1)}`, { recursive: true });
      await Deno.writeTextFile(`${root}/${path}`, text);
    }
    await bundle({ root, entry: "main.ts", late }, `${root}/out.js`, root);
    const made = [
      "out.js",
      ...Object.values(late).map((each) => `out/${typeof each === "string" ? each : each.name}.js`),
    ];
    return await Promise.all(made.map((path) => Deno.readTextFile(`${root}/${path}`)));
  } finally {
    await esbuild.stop();
    await Deno.remove(root, { recursive: true });
  }
}

const FILES = {
  "main.ts": 'import "./other/a.ts";\nexport const late = () => import("./parts/load.ts");',
  "parts/load.ts": 'export const part = "the part";',
  "other/a.ts": 'export const other = () => import("./load.ts");\nconsole.log(other);',
  "other/load.ts": 'export const twin = "of the same name";',
};

Deno.test("a file is made for a late import wherever it stands, and not for another one written alike", async () => {
  const [first, part] = await bundled(FILES, { "parts/load.ts": "part" });
  assert.ok(!first!.includes("the part") && first!.includes("of the same name"), first);
  assert.match(first!, /\.\/out\/part\.js/);
  assert.ok(part!.includes("the part"), part);
  const elsewhere = {
    ...FILES,
    "main.ts": 'import "./other/a.ts";',
    "other/a.ts": 'export const other = () => import("../parts/load.ts");\nconsole.log(other);',
  };
  const [moved] = await bundled(elsewhere, { "parts/load.ts": "part" });
  assert.ok(!moved!.includes("the part"), moved);
});

Deno.test("a late file that nothing loads late fails the build and is named", async () => {
  const unused = { ...FILES, "parts/unused.ts": "export {};" };
  await assert.rejects(
    bundled(unused, { "parts/load.ts": "part", "parts/unused.ts": "unused" }),
    /nothing loads parts\/unused\.ts late/,
  );
  const early = { ...FILES, "main.ts": 'import { part } from "./parts/load.ts";\nconsole.log(part);' };
  await assert.rejects(bundled(early, { "parts/load.ts": "part" }), /nothing loads parts\/load\.ts late/);
});

Deno.test("a late file goes without what it is told to, and an import of that fails instead of working by half", async () => {
  const files = {
    "main.ts": 'export const late = () => import("./parts/load.ts");',
    "parts/load.ts": 'export const more = () => import("./large.ts");',
    "parts/large.ts": 'export const large = "the large part";',
  };
  const [, part] = await bundled(files, { "parts/load.ts": { name: "part", without: ["parts/large.ts"] } });
  assert.ok(!part!.includes("the large part"), part);
  const { more } = await import(`data:text/javascript,${encodeURIComponent(part!)}`);
  await assert.rejects(more(), /parts\/large\.ts is not in this part of the program/);
  await assert.rejects(
    bundled(files, { "parts/load.ts": { name: "part", without: ["parts/gone.ts"] } }),
    /nothing loads parts\/gone\.ts late/,
  );
});

Deno.test("the program is a first file of less than 60 KB, which help and version need alone, and others that come later", async () => {
  const folder = await Deno.makeTempDir({ prefix: "flemma-build-" });
  try {
    await bundleProgram(`${folder}/flemma.js`);
    const late = [...Deno.readDirSync(`${folder}/flemma`)].map(({ name }) => name).sort();
    assert.deepEqual(late, [
      "ajv.js",
      "ajv2020.js",
      "commands.js",
      "deciding.js",
      "files.js",
      "ignore.js",
      "lua.js",
      "markdown.js",
      "mcp.js",
      "older.js",
      "quick.js",
      "re2js.js",
      "unbash.js",
      "yaml.js",
    ]);
    const { size } = await Deno.stat(`${folder}/flemma.js`);
    assert.ok(size < 60_000, `${size} bytes`);
    // The functions that every command calls are marked, and the program still runs.
    assert.match(await Deno.readTextFile(`${folder}/flemma/commands.js`), /^var [\w$]+=\(/);
    // A package that is imported past its late file would stand in two files.
    assert.ok(!(await Deno.readTextFile(`${folder}/flemma/deciding.js`)).includes("Streamable HTTP error"));
    await Deno.writeTextFile(`${folder}/a.chat`, "@You:\nHello\n");
    const { stdout, code } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `${folder}/flemma.js`, "status", "a.chat"],
      cwd: folder,
      env: { HOME: folder },
      stdin: "null",
      stdout: "piped",
    }).output();
    assert.equal(code, 0);
    assert.match(new TextDecoder().decode(stdout), /^next: flemma advance a\.chat sends the conversation$/m);
    // The package that checks inputs is a file of its own, which has to give its class when it is loaded.
    assert.match(await checkedCall(folder), /\(error\)[^]*\/text: must be string/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** What the program makes of a call of a tool of somebody's own whose input does not fit. */
async function checkedCall(folder: string): Promise<string> {
  await Deno.mkdir(`${folder}/config/flemma`, { recursive: true });
  await Deno.writeTextFile(`${folder}/config/flemma/config.yaml`, `tools: { modules: [${folder}/own.js] }\n`);
  const schema = { type: "object", properties: { text: { type: "string" } } };
  await Deno.writeTextFile(
    `${folder}/own.js`,
    `export const definitions = [{ name: "own", input_schema: ${
      JSON.stringify(schema)
    }, execute: () => ({}) }];`,
  );
  const call = '**Tool Use:** `own` (`c1`)\n\n```json\n{"text": 5}\n```\n';
  const result = "**Tool Result:** `c1`\n\n```flemma:tool status=approved\n```\n";
  await Deno.writeTextFile(`${folder}/b.chat`, `@You:\nGo.\n\n@Assistant:\n${call}\n@You:\n\n${result}`);
  // What comes behind it, a request without a key, fails.
  await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${folder}/flemma.js`, "advance", "b.chat", "--quiet"],
    cwd: folder,
    env: {
      HOME: folder,
      XDG_CONFIG_HOME: `${folder}/config`,
      XDG_STATE_HOME: `${folder}/state`,
      ANTHROPIC_API_KEY: "",
    },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return await Deno.readTextFile(`${folder}/b.chat`);
}
