// What programs outside the sandbox run with: no code, folder, cache or variable that commands can write. A row for
// each.

import assert from "node:assert/strict";
import { realPathOrNull } from "../../base/files.ts";
import { namedCode, namedInShell } from "../../sandbox/outside/named_code.ts";
import { makeOutsidePlace, outOfReach } from "../../sandbox/outside/place.ts";
import { testInFolder as test } from "../folder.ts";
import { plant, world } from "./fixture.ts";

/** A command, and the path below the project that it would run or load; null if there is none. */
const COMMANDS: readonly (readonly [argv: readonly string[], found: string | null])[] = [
  [["node", "P/server.js"], "server.js"],
  [["node", "./server.js"], "server.js"],
  [["node", "server.js"], "server.js"],
  [["node", "H/link.js"], "server.js"],
  [["node", "P"], ""],
  [["node", "P/dist"], "dist"],
  [["node", "--require=P/server.js", "O/main.js"], "server.js"],
  [["node", "--require", "P/server.js", "O/main.js"], "server.js"],
  [["node", "--import", "file://P/server.js", "O/main.js"], "server.js"],
  [["node", "O/main.js"], null],
  [["node", "O/main.js", "P"], null],
  [["node", "-e", "1", "P"], null],
  [["python3", "P/pkg"], "pkg"],
  [["python3", "-m", "mcp_server_git", "--repository", "P"], null],
  [["P/server.js"], "server.js"],
  [["npx", "-y", "@modelcontextprotocol/server-filesystem", "P"], null],
  [["npx", "-y", "P"], ""],
  [["npx", "--prefix", "P", "server"], ""],
  [["npx", "--prefix=P", "server"], ""],
  [["uvx", "mcp-server-sqlite", "--db-path", "P/data.db"], "data.db"],
  [["uvx", "--from", "P", "server"], ""],
  [["uv", "--directory", "P", "run", "server.py"], ""],
  [["uv", "run", "P/new.py"], "new.py"],
  [["deno", "run", "-A", "npm:server", "P"], null],
  [["deno", "run", "-A", "P/server.js"], "server.js"],
  [["go", "run", "P/cmd"], "cmd"],
  [["java", "-cp", "P/classes", "Main"], "classes"],
  [["java", "-cp", "O/a.jar:P/server.js", "Main"], "server.js"],
  [["ruby", "-IP/pkg", "O/main.js"], null],
  [["docker", "run", "-v", "P:/p", "image"], null],
  [["docker", "compose", "-f", "P/server.js", "up"], "server.js"],
  [["sh", "-c", "cd P && exec node server.js"], ""],
  [["server", "P"], null],
  [["server", "--root", "P"], ""],
  [["env", "P/server.js"], "server.js"],
];

const SHELL: readonly (readonly [line: string, found: string | null])[] = [
  ["P/server.js", "server.js"],
  ["exec 'P/server.js' --x", "server.js"],
  ["cd P && ./server.js", ""],
  ["$HOME/link.js", "server.js"],
  ["${HOME}/link.js | cat", "server.js"],
  ["A=P/server.js; $A", "server.js"],
  ["./server.js", "server.js"],
  ["notify-send done", null],
  ["pass show api/key", null],
  ["O/main.js | head -1", null],
];

/** The project, a folder outside, and how to write a row. */
function scene(root: string) {
  plant(
    root,
    "project/server.js",
    "project/data.db",
    "project/dist/index.js",
    "project/pkg/__main__.py",
    "project/cmd/main.go",
    "project/classes/",
    "out/main.js",
    "out/a.jar",
  );
  const environment = world(root, {}, `${root}/project`);
  plant(root, `home/link.js -> ${root}/project/server.js`);
  const told = (text: string) =>
    text.replace(/\bP\b/g, `${root}/project`).replace(/\bH\b/g, `${root}/home`).replace(
      /\bO\b/g,
      `${root}/out`,
    )
      .replace(`$${root}/homeOME`, "$HOME");
  const place = {
    home: `${root}/home`,
    folders: [`${root}/project`, `${root}/out`],
    roots: [`${root}/project`],
  };
  const expected = (found: string | null) =>
    found === null ? null : found === "" ? `${root}/project` : `${root}/project/${found}`;
  const real = (path: string | null) => path === null ? null : realPathOrNull(path) ?? path;
  return { environment, told, place, expected, real };
}

test("a command names code that commands can write, or none", (root) => {
  const { told, place, expected, real } = scene(root);
  for (const [argv, found] of COMMANDS) {
    assert.equal(real(namedCode(argv.map(told), place)), expected(found), argv.join(" "));
    assert.equal(namedCode(argv.map(told), { ...place, roots: [] }), null, argv.join(" "));
  }
});

test("a command line names code that commands can write, or none", (root) => {
  const { told, place, expected, real } = scene(root);
  for (const [line, found] of SHELL) {
    assert.equal(real(namedInShell(told(line), place)), expected(found), line);
  }
});

test("variables lose what commands can write and what depends on the working folder, and nothing else", (root) => {
  plant(root, "project/bin/", "out/");
  Deno.symlinkSync(`${root}/project/bin`, `${root}/link`);
  const [inside, outside] = [`${root}/project/bin`, `${root}/out`];
  const rows: readonly (readonly [name: string, value: string, left: string | undefined])[] = [
    ["PATH", `${inside}:${outside}:.::/usr/bin`, `${outside}:/usr/bin`],
    ["PATH", `${root}/link:/usr/bin`, "/usr/bin"],
    ["PYTHONPATH", `${inside}:lib`, ""],
    ["NODE_PATH", outside, outside],
    ["NODE_OPTIONS", `--max-old-space-size=4096 --require ${inside}/x.js`, undefined],
    ["NODE_OPTIONS", "--max-old-space-size=4096", "--max-old-space-size=4096"],
    ["VIRTUAL_ENV", inside, undefined],
    ["BASH_ENV", `${outside}/x`, `${outside}/x`],
    ["PROJECT", inside, inside],
  ];
  for (const [name, value, left] of rows) {
    assert.equal(outOfReach({ [name]: value }, [`${root}/project`])[name], left, `${name}=${value}`);
  }
});

test("a program outside the sandbox gets a folder of its own, caches in the state folder, and the rest of its variables", (root) => {
  const environment = world(root, {}, `${root}/project`);
  plant(root, "project/");
  const made = makeOutsidePlace("mcp a/b", { TOKEN: "x", PATH: "/usr/bin" }, environment, [
    `${root}/project`,
  ]);
  assert.ok(made.ok);
  const { cwd, variables } = made.value;
  const state = `${root}/home/.local/state/flemma/outside`;
  assert.equal(cwd, `${state}/work/mcp%20a%2Fb`);
  assert.deepEqual([...Deno.readDirSync(cwd)].map(({ name }) => name), ["package.json"]);
  assert.deepEqual([variables.TOKEN, variables.PATH, variables.TMPDIR], ["x", "/usr/bin", `${state}/tmp`]);
  for (const name of ["npm_config_cache", "UV_CACHE_DIR", "DENO_DIR", "PIP_CACHE_DIR", "GOMODCACHE"]) {
    assert.ok(variables[name]?.startsWith(`${state}/cache/`), name);
  }
  assert.ok(makeOutsidePlace("mcp a/b", {}, environment, []).ok, "a second time");
  Deno.removeSync(state, { recursive: true });
  Deno.writeTextFileSync(state, "");
  const refused = makeOutsidePlace("mcp a/b", {}, environment, []);
  assert.equal(refused.ok ? "" : refused.problem.code, "outside-folder");
});
