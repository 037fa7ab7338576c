// flemma's compiled code in folders that commands may write to is protected from them.

import assert from "node:assert/strict";
import { toolEnvironment } from "../../../sandbox/mod.ts";
import { denoFolderForCommands, ownCode, type RunningProgram } from "../../../sandbox/protect/own_code.ts";
import { plant, projectSandbox, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const at = (running: Partial<RunningProgram>, variables: Record<string, string> = {}) =>
  ownCode({ cwd: "/w", home: "/h", variables }, {
    executable: "/opt/deno/bin/deno",
    standalone: false,
    module: "file:///src/flemma/sandbox/protect/own_code.ts",
    main: "file:///src/flemma/cli.ts",
    ...running,
  });

Deno.test("compiled code is in the cache of deno run, or next to the temporary files of a single-file program", () => {
  assert.equal(at({}).protect[0], "/h/.cache/deno/v8_code_cache_v2");
  assert.equal(at({}, { XDG_CACHE_HOME: "/c" }).protect[0], "/c/deno/v8_code_cache_v2");
  assert.equal(at({}, { XDG_CACHE_HOME: "/c", DENO_DIR: "d" }).protect[0], "/w/d/v8_code_cache_v2");
  const single = { executable: "/usr/bin/flemma", standalone: true };
  assert.equal(at(single).protect[0], "/tmp/deno-compile-flemma.cache");
  assert.equal(at(single, { TMPDIR: "/t" }).protect[0], "/t/deno-compile-flemma.cache");
});

Deno.test("the runtime is protected, and so is flemma's code, whether it runs from a checkout, a bundle or a URL", () => {
  const cached = (...names: string[]) => names.map((name) => `/h/.cache/deno/${name}`);
  const compiled = cached("v8_code_cache_v2", "v8_code_cache_v2-wal", "v8_code_cache_v2-shm");
  const fetched = cached("gen", "remote", "npm");
  const runtime = "/opt/deno/bin/deno";
  assert.deepEqual(at({}).protect, [...compiled, ...fetched, "/src/flemma", runtime]);
  const bundle = at({ module: "file:///opt/my%20flemma/flemma.js" });
  assert.deepEqual(bundle.protect, [...compiled, "/opt/my flemma", runtime]);
  const address = at({ module: "https://example.org/x/sandbox/protect/own_code.ts" });
  assert.deepEqual(address.protect, [...compiled, ...fetched, runtime]);
  assert.deepEqual(at({ module: "https://example.org/flemma.js" }).protect, [
    ...compiled,
    ...fetched,
    runtime,
  ]);
  assert.deepEqual(at({ executable: "/usr/bin/flemma", standalone: true }).protect, [
    "/tmp/deno-compile-flemma.cache",
    "/usr/bin/flemma",
  ]);
});

Deno.test("flemma's own code in a bundle is its first file and the folder next to it; in a package, all files and the links to the package", () => {
  const own = (module: string, main: string) =>
    at({ module: `file://${module}`, main: `file://${main}` }).protect.slice(3, -1);
  assert.deepEqual(own("/opt/my%20x/flemma/commands.js", "/opt/my%20x/flemma.js"), [
    "/opt/my x/flemma",
    "/opt/my x/flemma.js",
  ]);
  // A program that imports the library lies elsewhere, whatever its name.
  assert.deepEqual(own("/opt/x/y/flemma/mod.js", "/opt/flemma.js"), ["/opt/x/y/flemma"]);
  assert.deepEqual(own("/opt/x/flemma/mod.js", "/opt/x/app.js"), ["/opt/x/flemma"]);
  const packages = "/p/node_modules";
  const started = `${packages}/flemma/lib/flemma.js`;
  assert.deepEqual(own(`${packages}/flemma/lib/flemma/commands.js`, started), [
    `${packages}/flemma`,
    `${packages}/.bin/flemma`,
    `${packages}/@deno`,
  ]);
  const kept = `${packages}/.pnpm/flemma@1/node_modules`;
  assert.deepEqual(own(`${kept}/flemma/lib/mod.js`, "/p/app.js"), [
    `${kept}/flemma`,
    `${packages}/flemma`,
    `${packages}/.bin/flemma`,
    `${packages}/@deno`,
    `${kept}/.bin/flemma`,
    `${kept}/@deno`,
  ]);
});

Deno.test("commands get their own Deno cache only if the person's cache is protected", () => {
  const world = (variables: Record<string, string>) => ({ cwd: "/w", home: "/h", variables });
  assert.equal(denoFolderForCommands(at({}), world({})), "/h/.cache/flemma/deno");
  assert.equal(denoFolderForCommands(at({}), world({ XDG_CACHE_HOME: "/c" })), "/c/flemma/deno");
  assert.equal(denoFolderForCommands(at({ standalone: true }), world({})), null);
});

/** A home as version managers make it: the runtime and the program below the data folder, both writable. */
function installed(root: string): { running: RunningProgram; variables: Record<string, string> } {
  const share = "home/.local/share";
  plant(
    root,
    ...["project/", `${share}/deno/2.9/deno`, `${share}/flemma/flemma.js`, `${share}/flemma/load.js`],
    ...[`${share}/deno/latest -> 2.9`, `${share}/bin/deno -> ../deno/latest/deno`, `${share}/first/`],
  );
  return {
    running: {
      executable: `${root}/${share}/deno/2.9/deno`,
      standalone: false,
      module: new URL(`file://${root}/${share}/flemma/load.js`).href,
      main: new URL(`file://${root}/${share}/flemma/flemma.js`).href,
    },
    variables: { PATH: `${root}/${share}/first:${root}/${share}/bin:/usr/bin:/bin` },
  };
}

test("in writable folders, commands cannot replace the runtime, the program or links to them", async (root) => {
  const sandbox = projectSandbox(
    root,
    { policy: { rw_paths: ["urn:flemma:cwd", "~/.local/share"] } },
    installed(root),
  );
  const share = `${root}/home/.local/share`;
  const attempts = [
    "echo PWNED > deno/2.9/deno; mv deno/2.9 x; mv deno y",
    "echo PWNED > flemma/load.js; echo PWNED > flemma/more.js; mv flemma z",
    "ln -sfn ../evil deno/latest; rm -f deno/latest; mkdir deno/latest; echo PWNED > deno/latest/deno",
    "rm -f bin/deno; echo PWNED > bin/deno; mv bin b",
    "echo PWNED > first/deno; chmod +x first/deno",
    "mv first f; mkdir first; echo PWNED > first/deno",
  ];
  for (const attempt of attempts) {
    await runInside(sandbox, `cd ${share}; ${attempt}`);
    const through = ["deno/2.9/deno", "flemma/load.js", "deno/latest/deno", "bin/deno"];
    for (const path of through) {
      assert.match(Deno.readTextFileSync(`${share}/${path}`), /^text of /, `${attempt}: ${path}`);
    }
    assert.throws(() => Deno.statSync(`${share}/first/deno`), Deno.errors.NotFound, attempt);
    assert.throws(() => Deno.statSync(`${share}/flemma/more.js`), Deno.errors.NotFound, attempt);
  }
  for (const path of ["deno/2.9/deno", "flemma/load.js", "flemma/new.js", "deno/latest/deno"]) {
    assert.ok(!sandbox.isPathWritable(`${share}/${path}`), path);
  }
  const listed = sandbox.protectedPaths().filter(({ exists }) => exists).map(({ path }) => path);
  for (const path of ["deno/2.9/deno", "flemma"]) assert.ok(listed.includes(`${share}/${path}`), path);
});

test("if a person works in flemma's own folder, a message says why the folder is read-only", (root) => {
  plant(root, "project/");
  const running = {
    executable: "/usr/bin/deno",
    standalone: false,
    module: `file://${root}/project/flemma.js`,
    main: `file://${root}/project/flemma.js`,
  };
  const sandbox = projectSandbox(root, {}, { running });
  assert.ok(!sandbox.isPathWritable(`${root}/project/x`));
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["own-folder"]);
});

test("inside the sandbox Deno uses a separate cache, unless the person passes their own cache or the cache is not writable", async (root) => {
  plant(root, "project/a.js", "home/.cache/deno/");
  Deno.writeTextFileSync(`${root}/project/a.js`, "console.log(Deno.env.get('DENO_DIR'))");
  const rw_paths = ["urn:flemma:cwd", "~/.cache"];
  const sandbox = projectSandbox(root, { home_caches: "shared", policy: { rw_paths } });
  const own = { DENO_DIR: `${root}/home/.cache/flemma/deno` };
  assert.deepEqual(sandbox.addedVariables(), own);
  assert.deepEqual(projectSandbox(root).addedVariables(), {});
  assert.deepEqual(projectSandbox(root, { enabled: false, policy: { rw_paths } }).addedVariables(), {});
  const seen = (pass: string[]) =>
    toolEnvironment({ DENO_DIR: "/mine" }, { pass, block: [] }, { sandboxed: true, added: own }).DENO_DIR;
  assert.deepEqual([seen([]), seen(["DENO_*"])], [own.DENO_DIR, "/mine"]);
  const bare = { sandboxed: false, added: own };
  assert.equal(toolEnvironment({ DENO_DIR: "/mine" }, { pass: [], block: [] }, bare).DENO_DIR, "/mine");
  await runInside(sandbox, `DENO_DIR=${own.DENO_DIR} "${Deno.execPath()}" run -A --no-config --quiet a.js`);
  assert.ok(Deno.statSync(own.DENO_DIR).isDirectory);
});

test("a command cannot insert code into flemma's compiled code", async (root) => {
  plant(root, "project/", "home/.cache/deno/v8_code_cache_v2", "home/.cache/deno/gen/file/cli.js");
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", "~/.cache"] } });
  const rows = [
    "echo x > ~/.cache/deno/v8_code_cache_v2",
    "mv ~/.cache/deno/v8_code_cache_v2 ~/.cache/x",
    "echo x > ~/.cache/deno/gen/file/cli.js",
    "mv ~/.cache/deno ~/.cache/other",
  ];
  for (const attempt of rows) {
    assert.notEqual((await runInside(sandbox, attempt)).code, 0, attempt);
  }
  assert.ok(!sandbox.isPathWritable("~/.cache/deno/gen/file/cli.js"));
  const elsewhere = "mkdir -p ~/.cache/deno/dl && echo x > ~/.cache/deno/dl/y";
  assert.equal((await runInside(sandbox, elsewhere)).code, 0);
});

test("deno works inside the sandbox although its compiled code is read-only, and may create a missing cache", async (root) => {
  plant(root, "project/", "home/.cache/");
  Deno.writeTextFileSync(`${root}/project/a.ts`, "const n: number = 42; console.log(n);");
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", "~/.cache"] } });
  const deno = `"${Deno.execPath()}" run --no-config --quiet a.ts`;
  for (const time of ["first", "second"]) {
    const { out, err } = await runInside(sandbox, deno);
    assert.deepEqual([out, err], ["42\n", ""], time);
  }
  assert.deepEqual(sandbox.notices(), []);
});
