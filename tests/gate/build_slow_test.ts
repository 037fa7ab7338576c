// Each module of a program is in exactly one file of the bundle, chosen by its imports, and no split is useless.

import assert from "node:assert/strict";
import * as esbuild from "esbuild";
import { bundle, bundleProgram, type Program } from "../../scripts/build/bundle.ts";
import { logsOfUsualRuns } from "../../scripts/build/called.ts";

/** Bundles the given modules; answers the text of each file that was made, by its name. */
async function bundled(
  files: Record<string, string>,
  { pieces, alone = {} }: Pick<Program, "pieces"> & Partial<Program>,
  then: (root: string) => void | Promise<void> = () => {},
) {
  const root = await Deno.makeTempDir({ prefix: "flemma-build-" });
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(`${root}/${path.slice(0, path.lastIndexOf("/") + 1)}`, { recursive: true });
      await Deno.writeTextFile(`${root}/${path}`, text);
    }
    const made = await bundle({ root, entry: "cli.ts", pieces, alone }, `${root}/out.js`, root);
    await then(root);
    const texts = await Promise.all(made.map((path) => Deno.readTextFile(path)));
    return Object.fromEntries(made.map((path, at) => [path.slice(root.length + 1), texts[at]!]));
  } finally {
    await esbuild.stop();
    await Deno.remove(root, { recursive: true });
  }
}

const CLI = 'if (import.meta.main) console.log(await (await import("./main.ts")).main());';

const FILES = {
  "cli.ts": CLI,
  "main.ts": `import "./other/a.ts";
import { shared } from "./shared.ts";
export const main = async () => {
  const { left } = await import("./parts/left.ts");
  const { right } = await import("./parts/right.ts");
  return JSON.stringify([shared.seen, left(), right(), shared.seen, (await import("./small.ts")).small]);
};`,
  "shared.ts": `export const shared = { seen: 0 };`,
  "both.ts": `export let times = 0;
export const count = () => ++times;`,
  "parts/left.ts": `import { shared } from "../shared.ts";
import { count, times } from "../both.ts";
export const left = () => (shared.seen++, count(), ["left", times]);`,
  "parts/right.ts": `import { shared } from "../shared.ts";
import { count, times } from "../both.ts";
export const right = () => (shared.seen++, count(), ["right", times]);`,
  "small.ts": 'export const small = "stands with its user";',
  "other/a.ts": 'export const other = () => import("./left.ts");\nglobalThis.other = other;',
  "other/left.ts": 'export const twin = "of the same name";',
};

const MAIN = { name: "main", roots: ["main.ts"] };
const LEFT = { name: "left", roots: ["parts/left.ts"], on: ["main"] };
const RIGHT = { name: "right", roots: ["parts/right.ts"], on: ["main"] };

Deno.test("each module is in one file, shared modules are in a common dependency, and all importers get the same module", async () => {
  let stated = "";
  const files = await bundled(FILES, { pieces: [MAIN, LEFT, RIGHT] }, async (root) => {
    const { stdout, success } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `${root}/out.js`],
      stdin: "null",
      stdout: "piped",
    }).output();
    assert.ok(success);
    stated = new TextDecoder().decode(stdout);
  });
  assert.equal(stated, '[0,["left",1],["right",2],2,"stands with its user"]\n');
  const holders = (words: string) => Object.keys(files).filter((name) => files[name]!.includes(words));
  assert.deepEqual(holders("seen:0"), ["out/main.js"]);
  assert.deepEqual(holders('"left"'), ["out/left.js"]);
  assert.deepEqual(holders('"right"'), ["out/right.js"]);
  assert.deepEqual(holders("stands with its user"), ["out/main.js"]);
  // It is written like a module that makes a file, and is another one.
  assert.deepEqual(holders("of the same name"), ["out/main.js"]);
});

Deno.test("a file of the bundle imports only the files that it depends on", async () => {
  const above = { name: "right", roots: ["parts/right.ts"], on: ["left"] };
  const files = await bundled(FILES, { pieces: [MAIN, LEFT, above] });
  assert.match(files["out/right.js"]!, /from"\.\/left\.js"/);
  assert.match(files["out/right.js"]!, /from"\.\/main\.js"/);
  assert.doesNotMatch(files["out/left.js"]!, /right\.js/);
});

Deno.test("if a file of the bundle is defined by a folder, it contains all modules of the folder that no other file lists", async () => {
  const rest = { name: "rest", roots: ["parts/"], on: ["main"] };
  const files = await bundled(FILES, { pieces: [MAIN, LEFT, rest] });
  assert.ok(files["out/rest.js"]!.includes('"right"') && !files["out/rest.js"]!.includes('"left"'));
});

Deno.test("if no dynamic import loads a listed file, the build fails and names the file", async () => {
  const unused = { ...FILES, "parts/unused.ts": "export {};" };
  const pieces = [MAIN, LEFT, { name: "rest", roots: ["parts/unused.ts", "gone/"], on: ["main"] }];
  await assert.rejects(bundled(unused, { pieces }), /nothing loads parts\/unused\.ts or gone\/ late/);
  const early = { ...FILES, "main.ts": 'import { left } from "./parts/left.ts";\nexport const main = left;' };
  await assert.rejects(bundled(early, { pieces: [MAIN, LEFT] }), /nothing loads parts\/left\.ts late/);
  await assert.rejects(
    bundled(FILES, { pieces: [MAIN], alone: { "both.ts": "both" } }),
    /nothing loads both\.ts late/,
  );
});

Deno.test("the build fails if two files need the same module but have no common dependency", async () => {
  const apart = { name: "right", roots: ["parts/right.ts"] };
  await assert.rejects(bundled(FILES, { pieces: [MAIN, LEFT, apart] }), /stand on no file in common/);
});

Deno.test("a module that gets its own file is in no other file", async () => {
  const files = await bundled(FILES, { pieces: [MAIN], alone: { "small.ts": "small" } });
  const holders = Object.keys(files).filter((name) => files[name]!.includes("stands with its user"));
  assert.deepEqual(holders, ["out/small.js"]);
});

Deno.test("to print the version, the program loads only files of together less than 25 KB; it loads all other files later", async () => {
  const folder = await Deno.makeTempDir({ prefix: "flemma-build-" });
  try {
    await bundleProgram(`${folder}/flemma.js`);
    const late = [...Deno.readDirSync(`${folder}/flemma`)].map(({ name }) => name).sort();
    assert.deepEqual(late, [
      "ajv.js",
      "ajv2020.js",
      "anthropic.js",
      "check.js",
      "files.js",
      "help.js",
      "ignore.js",
      "landlock.js",
      "layers.js",
      "lua.js",
      "main.js",
      "markdown.js",
      "mcp.js",
      "other.js",
      "re2js.js",
      "reading.js",
      "rules.js",
      "running.js",
      "sandbox.js",
      "session.js",
      "start.js",
      "status.js",
      "strict.js",
      "templates.js",
      "unbash.js",
      "words.js",
      "yaml.js",
    ]);
    const started = ["flemma.js", "flemma/start.js"].map((name) => `${folder}/${name}`);
    const size = started.reduce((sum, path) => sum + Deno.statSync(path).size, 0);
    assert.ok(size < 25_000, `${size} bytes`);
    // The functions that every command calls are marked, and the program still runs.
    assert.match(await Deno.readTextFile(`${folder}/flemma/session.js`), /=\((?:async )?function/);
    // They load nothing else by themselves, and what they load late is hidden from the runtime.
    for (const path of started) {
      const text = await Deno.readTextFile(path);
      assert.deepEqual(
        [...text.matchAll(/(?:from|import)"([^"]+)"/g)].map(([, name]) => name).filter((name) =>
          name !== "./flemma/start.js"
        ),
        [],
      );
      assert.doesNotMatch(text, /import\("/);
    }
    // A package that is imported past its late file would stand in two files.
    assert.ok(!(await Deno.readTextFile(`${folder}/flemma/other.js`)).includes("Streamable HTTP error"));
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
    // What the settings ask for may stand in a file that this command does not need otherwise.
    await Deno.mkdir(`${folder}/asking/flemma`, { recursive: true });
    await Deno.writeTextFile(`${folder}/asking/flemma/config.yaml`, "prefill: true\n");
    const asking = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `${folder}/flemma.js`, "status", "a.chat"],
      cwd: folder,
      env: { HOME: folder, XDG_CONFIG_HOME: `${folder}/asking` },
      stdin: "null",
      stdout: "piped",
    }).output();
    assert.equal(new TextDecoder().decode(asking.stdout), new TextDecoder().decode(stdout));
    // The package that checks inputs is a file of its own, which has to give its class when it is loaded.
    assert.match(await checkedCall(folder), /\(error\)[^]*\/text: must be string/);
    // Reading `globalThis.process` is enough to load Node's modules.
    const loaded: string[] = [];
    for await (const log of logsOfUsualRuns(`${folder}/flemma.js`)) {
      loaded.push(...nodeModules(log));
      // The file of all rare parts is the largest; a usual run that needs one of them would load all.
      if (log.includes("/flemma/other.js")) loaded.push("other.js");
    }
    assert.deepEqual(loaded, []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Node's modules that a run loaded, by the engine's log; a call that takes long may wait with Node's timers. */
function nodeModules(log: string): string[] {
  return [...log.matchAll(/^script-details,\d+,(node:[^,]*)/gm)].map(([, name]) => name!)
    .filter((name) => name !== "node:timers");
}

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
