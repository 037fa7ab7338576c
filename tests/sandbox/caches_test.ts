// Private caches of commands: whose set is used, what is writable, what of the person's configuration is shown, and
// their removal. Needs bubblewrap.

import assert from "node:assert/strict";
import { recordTrust } from "../../config/sources/trust.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { cacheSets, removeCacheSets } from "../../sandbox/outside/cache_sets.ts";
import { privateCaches } from "../../sandbox/policy/private_caches.ts";
import { cacheVariables, shownFiles } from "../../sandbox/policy/tool_caches.ts";
import { testInFolder as test } from "../folder.ts";
import { exists, plant, runInside, settings, world } from "./fixture.ts";

const DEFAULTS = ["urn:flemma:cwd", "urn:flemma:caches"];

/** A sandbox whose commands run in `project` below the folder, with the default policy but for /tmp. */
function sandboxIn(
  root: string,
  changes: Parameters<typeof settings>[0] = {},
  variables: Record<string, string> = {},
) {
  plant(root, "project/");
  const environment = world(root, variables, `${root}/project`);
  const all = settings({ ...changes, policy: { rw_paths: DEFAULTS, ...changes.policy } });
  return { environment, sandbox: createSandbox({ settings: all, environment, document: null, protect: [] }) };
}

test("commands write to private caches, and only read the person's caches and data", async (root) => {
  plant(root, "home/.cache/browser/b", "home/.local/share/app/a");
  const { environment, sandbox } = sandboxIn(root);
  const { out } = await runInside(
    sandbox,
    `echo x > "$npm_config_cache.txt" && echo private
     cat ~/.cache/browser/b ~/.local/share/app/a
     for path in ~/.cache/x ~/.cache/browser/b ~/.local/share/x ~/.cache/flemma/sandbox/other; do
       echo x 2>/dev/null >$path || echo refused; done
     echo "\${XDG_DATA_HOME-unset} \${XDG_CACHE_HOME-unset}"`,
  );
  assert.equal(
    out,
    "private\ntext of home/.cache/browser/b\ntext of home/.local/share/app/a\nrefused\nrefused\nrefused\nrefused\nunset unset\n",
  );
  assert.ok(exists(`${privateCaches(environment)}/npm.txt`));
});

test("home_caches: shared gives commands the person's own caches, and no variables but that of Deno", async (root) => {
  plant(root, "home/.cache/", "home/.local/share/");
  const { sandbox } = sandboxIn(root, { home_caches: "shared" });
  const { out } = await runInside(
    sandbox,
    'echo x > ~/.cache/a && echo x > ~/.local/share/b && echo written; echo "${npm_config_cache-unset}"',
  );
  assert.equal(out, "written\nunset\n");
});

test("trusted projects share one set, and every other project has its own", async (root) => {
  plant(root, "a/.git/", "a/deep/er/", "b/.flemma/", "c/", "d/.git/", "home/");
  const at = (cwd: string) => privateCaches({ ...world(root), cwd: `${root}/${cwd}` });
  assert.equal(at("a"), at("a/deep/er"));
  assert.equal(new Set(["a", "b", "c", "d"].map(at)).size, 4);
  const trust = async (path: string) =>
    assert.ok((await recordTrust(world(root), `${root}/${path}`, "", {}, new Date())).ok);
  const shared = `${root}/home/.cache/flemma/sandbox/trusted`;
  await trust("a/notes.chat");
  assert.notEqual(at("a"), shared, "trust in a document says nothing about the project");
  await trust("a/.mcp.json");
  await trust("b/.flemma/config.yaml");
  await trust("d/.agents/skills/x/SKILL.md");
  assert.deepEqual([at("a"), at("b"), at("d")], [shared, shared, shared]);
  await trust("c-other/.flemma/config.yaml");
  assert.notEqual(at("c"), shared);
});

test("a list without the caches gives no variables, and one with the cache folder does", async (root) => {
  plant(root, "home/.cache/");
  const names = (rw_paths: string[]) =>
    Object.keys(sandboxIn(root, { policy: { rw_paths } }).sandbox.addedVariables());
  assert.deepEqual(names(["urn:flemma:cwd"]), []);
  assert.ok(names(["urn:flemma:cwd", "~/.cache"]).includes("npm_config_cache"));
  await Promise.resolve();
});

test("the person's configuration of cargo and gradle is shown, and a command cannot change it", async (root) => {
  plant(root, "home/.cargo/config.toml", "home/.gradle/init.d/mirror.gradle", "home/.cargo/registry/x");
  const { environment, sandbox } = sandboxIn(root);
  const read = 'cat "$CARGO_HOME/config.toml" "$GRADLE_USER_HOME/init.d/mirror.gradle"; ls "$CARGO_HOME"';
  const shown = "text of home/.cargo/config.toml\ntext of home/.gradle/init.d/mirror.gradle\nconfig.toml\n";
  assert.equal((await runInside(sandbox, read)).out, shown);
  const { out } = await runInside(
    sandbox,
    'echo x 2>/dev/null >>"$CARGO_HOME/config.toml" || echo refused; rm "$CARGO_HOME/config.toml"; echo mine >"$CARGO_HOME/config.toml"',
  );
  assert.equal(out, "refused\n");
  assert.equal(Deno.readTextFileSync(`${root}/home/.cargo/config.toml`), "text of home/.cargo/config.toml\n");
  assert.equal((await runInside(sandbox, read)).out, shown, "what a command put in its place does not last");
  assert.deepEqual(sandbox.notices().filter(({ code }) => code === "configuration-not-shown"), []);
  assert.equal(shownFiles("/c", environment).length, 2);
});

test("hidden configuration is not shown", async (root) => {
  plant(root, "home/.cargo/credentials.toml", "home/.cargo/config.toml");
  const { sandbox } = sandboxIn(root, { policy: { deny_read: ["~/.cargo/credentials.toml"] } });
  assert.equal((await runInside(sandbox, 'ls "$CARGO_HOME"')).out, "config.toml\n");
});

test("variables keep what the person set there: options of Maven, gems, spellings of npm", () => {
  const at = (variables: Record<string, string>) =>
    cacheVariables("/c", { cwd: "/", home: "/nowhere", variables });
  assert.equal(at({}).MAVEN_OPTS, "-Dmaven.repo.local=/c/maven/repository");
  assert.equal(at({ MAVEN_OPTS: "-Xmx1g" }).MAVEN_OPTS, "-Xmx1g -Dmaven.repo.local=/c/maven/repository");
  assert.equal(at({}).GEM_PATH, undefined);
  assert.equal(at({ GEM_HOME: "/g", GEM_PATH: "/h" }).GEM_PATH, "/c/gem:/g:/h");
  assert.equal(at({}).NPM_CONFIG_CACHE, undefined);
  assert.equal(at({ NPM_CONFIG_CACHE: "/n" }).NPM_CONFIG_CACHE, "/c/npm");
});

test("a link from the project into the private caches is reported once, other links are not", async (root) => {
  const { sandbox } = sandboxIn(root);
  const found = () =>
    sandbox.notices().filter(({ code }) => code === "link-into-caches").map(({ message }) => message);
  await runInside(sandbox, "mkdir -p .venv/bin; ln -s /bin/sh .venv/bin/sh; ln -s a b");
  assert.deepEqual(found(), []);
  const link =
    'mkdir -p "$UV_CACHE_DIR"; touch "$UV_CACHE_DIR/python"; ln -sf "$UV_CACHE_DIR/python" .venv/bin/python';
  await runInside(sandbox, link);
  await runInside(sandbox, "true");
  assert.equal(found().length, 1);
  assert.match(
    found()[0]!,
    /^\S+\/project\/\.venv\/bin\/python leads to \S+\/uv\/python, in the caches of commands/,
  );
});

test("a project's link in place of its cache folder leads nowhere else", async (root) => {
  plant(root, "home/.cargo/config.toml", "victim/");
  const { environment, sandbox } = sandboxIn(root);
  await runInside(sandbox, `rm -rf "$CARGO_HOME"; ln -s ${root}/victim "$CARGO_HOME"`);
  await runInside(sandbox, "true");
  assert.deepEqual([...Deno.readDirSync(`${root}/victim`)], []);
  assert.ok(sandbox.notices().some(({ code }) => code === "configuration-not-shown"));
  assert.ok(privateCaches(environment).startsWith(`${root}/home/.cache/`));
});

/** Returns a folder and all folders below it. */
function foldersIn(folder: string): string[] {
  const inner = [...Deno.readDirSync(folder)].filter(({ isDirectory }) => isDirectory);
  return [folder, ...inner.flatMap(({ name }) => foldersIn(`${folder}/${name}`))];
}

test("the sets are listed by name", (root) => {
  const environment = world(root);
  const folder = privateCaches(environment).replace(/\/[^/]*$/, "");
  const names = ["z", "b", "m", "a", "q", "c", "y", "d"];
  for (const name of names) Deno.mkdirSync(`${folder}/${name}`, { recursive: true });
  assert.deepEqual(
    cacheSets(environment).map(({ path }) => path),
    names.toSorted().map((name) => `${folder}/${name}`),
  );
});

test("the sizes of the sets are counted, and all are removed, even read-only folders", async (root) => {
  const { environment, sandbox } = sandboxIn(root);
  assert.deepEqual(cacheSets(environment), []);
  assert.deepEqual(await removeCacheSets(environment), { ok: true, value: { bytes: 0 } });
  await runInside(
    sandbox,
    'mkdir -p "$GOMODCACHE/m/v1"; printf 12345 >"$GOMODCACHE/m/v1/f"; ln -s / "$GOMODCACHE/m/root"; chmod -R a-w "$GOMODCACHE"',
  );
  const [set, ...others] = cacheSets(environment);
  assert.deepEqual([others, set?.path, set?.complete], [[], privateCaches(environment), true]);
  assert.ok(set!.bytes >= 5 && set!.bytes < 100, String(set!.bytes));
  // The superuser, who may run this test, could remove read-only folders too.
  const [remove, modes] = [Deno.remove, [] as number[]];
  Deno.remove = (path, options) => {
    modes.push(...foldersIn(String(path)).map((folder) => Deno.statSync(folder).mode! & 0o700));
    return remove(path, options);
  };
  try {
    const removed = await removeCacheSets(environment);
    assert.ok(removed.ok && removed.value.bytes === set!.bytes);
  } finally {
    Deno.remove = remove;
  }
  assert.ok(modes.length > 4 && modes.every((mode) => mode === 0o700), modes.join());
  assert.deepEqual(cacheSets(environment), []);
  assert.deepEqual([...Deno.readDirSync(`${root}/home/.cache/flemma`)], []);
  assert.ok(exists("/etc/passwd"));
});

Deno.test("the page about the sandbox names ten ecosystems, and only variables that are set", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/reference/sandbox.md", import.meta.url));
  const section = page.split("## Caches of package managers")[1]!.split("\n## ")[0]!;
  const rows = section.split("\n").filter((line) => /^\| [a-z]/.test(line) && !line.startsWith("| tool "));
  assert.deepEqual(
    rows.map((row) => row.split("|")[1]!.trim()),
    ["npm", "pnpm", "yarn", "pip, uv", "cargo", "go", "maven", "gradle", "bundler", "deno"],
  );
  const set = Object.keys(cacheVariables("/c", { cwd: "/", home: "/nowhere", variables: {} }));
  for (const row of rows) {
    const named = [...row.split("|")[2]!.matchAll(/`([A-Za-z_]+)`/g)].map(([, name = ""]) => name);
    assert.ok(named.length > 0, row);
    for (const name of named) assert.ok(set.includes(name), name);
  }
});
