// Which files belong to code: every form of an import, and what cannot be followed. A row for each.

import assert from "node:assert/strict";
import { followImports } from "../../config/code/imports.ts";
import { isTrusted, recordTrust } from "../../config/sources/trust.ts";
import { testInWorld as test, type World } from "./world.ts";

const NOW = new Date("2026-11-29T00:00:00Z");

/** Code, the file that a run of it loads, and whether that is known. */
const FOLLOWED: readonly (readonly [string, string])[] = [
  ['import { a } from "./lib.ts";', "lib.ts"],
  ["import './lib.ts'", "lib.ts"],
  ['import"./lib.ts"', "lib.ts"],
  ['export*from"./lib.ts"', "lib.ts"],
  ['import defer * as a from "./lib.ts";', "lib.ts"],
  ['import/* why */"./lib.ts"', "lib.ts"],
  ['import // why\n"./lib.ts"', "lib.ts"],
  ['await import("./lib.ts")', "lib.ts"],
  ['await import ( /* why */ "./lib.ts" , { with: {} })', "lib.ts"],
  ["await import(`./lib.ts`)", "lib.ts"],
  ['import.defer("./lib.ts")', "lib.ts"],
  ['[...import("./lib.ts")]', "lib.ts"],
  ['import "./lib.ts?version=2"', "lib.ts"],
  ['import "./lib.ts#part"', "lib.ts"],
  ['import "./%6cib.ts"', "lib.ts"],
  ['import "./%6Cib.ts?x#y"', "lib.ts"],
  ['import "./deep/../lib.ts"', "lib.ts"],
  ['import "./%2e/lib.ts"', "lib.ts"],
  ['import "FILE_URL/lib.ts"', "lib.ts"],
  ['import "FILE_URL/%6cib.ts?x"', "lib.ts"],
  ['import "./lib"', "lib.ts"],
  ['import "./other.js"', "other.ts"],
  ['import "./deep"', "deep/index.ts"],
  ['const a = require("./old.cjs");', "old.cjs"],
  ["const a = require(`./old`);", "old.cjs"],
  ['const require = createRequire(import.meta.url); require("./old.cjs")', "old.cjs"],
  ['new Worker(new URL("./lib.ts", import.meta.url))', "lib.ts"],
  ['Deno.run(new URL("./run.sh", import.meta.url))', "run.sh"],
  ['import "./deep/first.ts"', "deep/second.ts"],
  ['import.meta.dirname + "/run.sh"', "run.sh"],
  ["args: [import.meta.dirname+'/deep/../run.sh']", "run.sh"],
  ["`${import.meta.dirname}/run.sh`", "run.sh"],
  ["`${ import . meta . dirname }/run.sh`", "run.sh"],
  ['join(import.meta.dirname, "run.sh")', "run.sh"],
  ['join(__dirname, "../project/run.sh")', "run.sh"],
  ['__dirname + "/started"', "started"],
  ['import.meta.resolve("./run.sh")', "run.sh"],
  ['new URL("./started", import.meta.url)', "started"],
];

const UNFOLLOWED: readonly (readonly [string, RegExp])[] = [
  ["await import(name)", /computed/],
  ["await import(`./${name}.ts`)", /computed/],
  ['await import("./" + name)', /computed/],
  ["[...import(name)]", /computed/],
  ["import.source(name)", /computed/],
  ["`\n// ${await import(name)}\n`", /computed/],
  ["`\n// text`; await import(name)", /computed/],
  ["/*\n// */ await import(name)", /computed/],
  ["`\n/*`; await import(name); `*/`", /computed/],
  ['"\\\n/*"; await import(name); "*/"', /computed/],
  ['"\\\r\n// "; await import(name)', /computed/],
  ['import "./\\x6cib.ts"', /backslash/],
  ['import "./lib%2fx.ts"', /plainly/],
  ['import "./%zz.ts"', /plainly/],
  ['import "data:text/javascript,1"', /neither/],
  ['import "blob:x"', /neither/],
  ['import "left-pad"', /package/],
  ['import "#inner"', /package/],
  ['const a = require("left-pad");', /package/],
  ["const load = createRequire(import.meta.url);", /another name/],
  ['import { createRequire as r } from "node:module";', /another name/],
  ["new Worker(name)", /worker/],
  ["/** @jsxImportSource ./lib */", /computed/],
  ['import a from "./code.wasm"', /may load/],
  ["import.meta.dirname + name", /next to the code/],
  ['import.meta.dirname + "/run" + name', /next to the code/],
  ["`${import.meta.dirname}/${name}`", /next to the code/],
  ["`${import.meta.dirname}/run\\x2esh`", /next to the code/],
  ['import.meta.dirname + "/run\\x2esh"', /backslash/],
  ['join(import.meta.dirname, "deep", name)', /next to the code/],
  ["const folder = import.meta.dirname;", /next to the code/],
  ["const { dirname } = import.meta;", /next to the code/],
  ['import.meta["dirname"] + "/run.sh"', /next to the code/],
  ["dirname(import.meta.filename)", /next to the code/],
  ["dirname(fileURLToPath(import.meta.url))", /next to the code/],
  ['import.meta.url.replace("main.ts", "run.sh")', /next to the code/],
  ["new URL(name, import.meta.url)", /next to the code/],
  ['new URL("./" + name, import.meta.url)', /next to the code/],
  ["import.meta.resolve(name)", /next to the code/],
  ["spawn(__dirname + name)", /next to the code/],
];

/** Code that needs nothing more: packages, names that are no imports, and explanations. */
const ALONE: readonly string[] = [
  'import a from "npm:left-pad@1.0.0"; import b from "jsr:@std/path"; import "https://example.org/x.ts";',
  'import { readFile } from "node:fs"; import "fs/promises"; import { tool } from "@vellumai/plugin-api";',
  "loader.import(name); registry?.require(name);",
  "// import(path) loads it\n  // so does require(path)",
  "/**\n * import(path) loads it\n */",
  "if (import.meta.main) run(import.meta.env);",
  'if (import.meta.url === entry || import.meta.filename != "x") run();',
  'join(import.meta.dirname, "data.json"); import.meta.dirname + "/notes.txt"; `${import.meta.dirname}/a.csv`',
  'new URL("./state.json", import.meta.url)',
  'Array.from("abc")',
];

async function plant(world: World, code: string): Promise<string> {
  const main = `${world.project}/main.ts`;
  const files = {
    "lib.ts": "export const a = 1;",
    "other.ts": "",
    "old.cjs": "",
    "run.sh": "",
    "started": "",
    "code.wasm": "",
    "deep/index.ts": "",
    "deep/first.ts": 'export * from "./second.ts?again";',
    "deep/second.ts": "",
    "lib/jsx-runtime.ts": "await import(name)",
  };
  for (const [name, text] of Object.entries(files)) await world.write(`${world.project}/${name}`, text);
  await world.write(main, code.replaceAll("FILE_URL", `file://${world.project}`));
  return main;
}

test("every form of an import by path is followed", async (world) => {
  for (const [code, loaded] of FOLLOWED) {
    const { files, unfollowed } = await followImports([await plant(world, code)], world.home);
    assert.deepEqual(unfollowed, [], code);
    assert.ok(files.includes(`${world.project}/${loaded}`), `${code}: ${files.join(" ")}`);
  }
});

test("what cannot be followed is named with its line, and such code is never trusted", async (world) => {
  const environment = world.environment();
  for (const [code, why] of UNFOLLOWED) {
    const main = await plant(world, code);
    const { unfollowed } = await followImports([main], world.home);
    assert.match(unfollowed[0]?.why ?? "", why, code);
    assert.ok(unfollowed[0]!.line >= 1 && unfollowed[0]!.line <= code.split("\n").length, code);
    const recorded = await recordTrust(environment, main, "", { code: [main] }, NOW);
    assert.equal(recorded.ok ? "trusted" : recorded.problem.code, "import-unfollowed", code);
    assert.deepEqual(
      await isTrusted(environment, main, "", { code: [main] }),
      { ok: true, value: false },
      code,
    );
  }
});

test("packages, members and explanations are not imports by path", async (world) => {
  for (const code of ALONE) {
    const main = await plant(world, code);
    assert.deepEqual(await followImports([main], world.home), { files: [main], unfollowed: [] }, code);
  }
});

test("a file in another encoding is read as the runtime reads it", async (world) => {
  const main = await plant(world, "");
  const text = '\ufeffimport "./lib.ts"';
  const units = Uint16Array.from(text, (character) => character.charCodeAt(0));
  await Deno.writeFile(main, new Uint8Array(units.buffer));
  const { files } = await followImports([main], world.home);
  assert.deepEqual(files, [main, `${world.project}/lib.ts`]);
});

test("code of more files than are compared is not trusted", async (world) => {
  const names = Array.from({ length: 501 }, (_, at) => `./many/m${at}.ts`);
  const main = await plant(world, names.map((name) => `import "${name}";`).join("\n"));
  for (const name of names) await world.write(`${world.project}/${name}`, "");
  const { unfollowed } = await followImports([main], world.home);
  assert.match(unfollowed[0]?.why ?? "", /more than 500 files/);
});

test("a change of an imported file ends the trust, whatever the import looks like", async (world) => {
  const environment = world.environment();
  const forms = ['"./lib.ts?x"', '"./%6cib.ts"', "`./lib.ts`"];
  for (const form of forms) {
    const main = await plant(world, `await import(${form})`);
    const trusted = async () => {
      const answer = await isTrusted(environment, main, "", { code: [main] });
      return answer.ok && answer.value;
    };
    assert.ok((await recordTrust(environment, main, "", { code: [main] }, NOW)).ok, form);
    assert.ok(await trusted(), form);
    await world.write(`${world.project}/lib.ts`, "export const a = 2;");
    assert.equal(await trusted(), false, form);
  }
});
