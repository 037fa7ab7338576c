// A socket that vanishes between the last look at it and the mount of its mask: nothing has run yet, so the sandbox is
// set up again.

import assert from "node:assert/strict";
import type { RunSandbox } from "../../../sandbox/mod.ts";
import { spawnServer } from "../../../tools/mcp/spawn.ts";
import { DEFAULT_SETTINGS } from "../../../config/settings.generated.ts";
import { exists, plant, projectSandbox, runInside, runPrepared, script } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

/** A sandbox whose bubblewrap first removes the first of some paths that is left, and how often it ran. */
function vanishing(
  root: string,
  paths: readonly string[],
  then = 'exec bwrap "$@"',
): { sandbox: RunSandbox; runs(): number } {
  plant(root, "project/.vscode/", "project/sub/folder/", "home/", "bin/");
  const path = script(
    `${root}/bin/bwrap`,
    `echo run >>${root}/runs`,
    `for path in ${paths.join(" ")}; do [ ! -e $path ] || { rm -r $path; break; }; done`,
    then,
  );
  const sandbox = projectSandbox(root, { backends: { bwrap: { path } } });
  return {
    sandbox,
    runs: () => Deno.readTextFileSync(`${root}/runs`).split("\n").length - 1,
  };
}

/** Runs `body` while a program listens at these paths. */
async function listening(paths: readonly string[], body: () => Promise<void>): Promise<void> {
  const listeners = paths.map((path) => Deno.listen({ transport: "unix", path }));
  try {
    await body();
  } finally {
    for (const listener of listeners) listener.close();
  }
}

const PLACES: Readonly<Record<string, string>> = {
  "a folder that commands cannot write": "home/s",
  "a protected folder inside a writable one": "project/.vscode/s",
};

for (const [place, name] of Object.entries(PLACES)) {
  test(`a socket in ${place} that vanishes during the set-up does not make the probe fail`, async (root) => {
    const path = `${root}/${name}`;
    const { sandbox, runs } = vanishing(root, [path]);
    await listening([path], async () => {
      assert.equal((await sandbox.available()).ok, true);
      assert.equal(runs(), 2);
    });
    assert.deepEqual(sandbox.notices(), []);
  });

  test(`a command starts once, with all of its input, after a socket in ${place} vanished during the set-up`, async (root) => {
    const path = `${root}/${name}`;
    const { sandbox, runs } = vanishing(root, [path]);
    assert.ok((await sandbox.available()).ok);
    await listening([path], async () => {
      const prepared = await sandbox.prepare(["/bin/sh", "-c", "echo once; cat; echo error >&2"]);
      assert.ok(prepared.ok);
      const { cwd, variables: env } = sandbox.host.environment;
      const started = prepared.value.start({ cwd, env, stdin: new Blob(["input\n"]).stream() });
      assert.ok(started.ok);
      const [out, err, status] = await Promise.all([
        new Response(started.value.stdout).text(),
        new Response(started.value.stderr).text(),
        started.value.status,
      ]);
      assert.deepEqual([out, err, status], ["once\ninput\n", "error\n", { code: 0, signal: null }]);
      assert.equal(await prepared.value.setupFailure(err, null), null);
      await prepared.value.dispose();
      assert.equal(runs(), 3, "the probe, and two attempts");
    });
    assert.deepEqual(sandbox.notices(), []);
    assert.deepEqual([...Deno.readDirSync(`${root}/home/.local/state/flemma/started`)], []);
  });
}

test("a socket in a folder that commands can write leaves no file there if it vanishes during the set-up", async (root) => {
  const path = `${root}/project/s`;
  const { sandbox } = vanishing(root, [path]);
  await listening([path], async () => {
    assert.equal((await sandbox.available()).ok, true);
    // Closing the listener would remove it too.
    assert.equal(exists(path), false);
  });
});

test("an MCP server starts although a socket vanishes during the set-up", async (root) => {
  const path = `${root}/home/s`;
  const { sandbox, runs } = vanishing(root, [path]);
  assert.ok((await sandbox.available()).ok);
  await listening([path], async () => {
    const place = {
      environment: sandbox.host.environment,
      settings: DEFAULT_SETTINGS,
      sandbox,
      folder: `${root}/project`,
    };
    const server = await spawnServer("a", { command: "/bin/cat" }, place);
    assert.ok(server.ok);
    const writer = server.value.stdin.getWriter();
    await writer.write(new TextEncoder().encode("first message"));
    await writer.close();
    assert.equal(await new Response(server.value.stdout).text(), "first message");
    await server.value.kill(() => Promise.resolve(""));
    await server.value.stderr.cancel();
  });
  assert.equal(runs(), 3);
});

test("the set-up is repeated at most 20 times, and then the failure says that another attempt can succeed", async (root) => {
  const paths = Array.from({ length: 23 }, (_, at) => `${root}/home/s${at}`);
  const { sandbox, runs } = vanishing(root, paths);
  assert.ok((await sandbox.available()).ok);
  await listening(paths, async () => {
    const prepared = await sandbox.prepare(["/bin/sh", "-c", "touch ran"]);
    assert.ok(prepared.ok);
    const { cwd, variables: env } = sandbox.host.environment;
    const started = prepared.value.start({ cwd, env });
    assert.ok(started.ok);
    const [err, { signal }] = await Promise.all([
      new Response(started.value.stderr).text(),
      started.value.status,
      started.value.stdout.cancel(),
    ]);
    assert.match(err, /Can't create file at .*\/s20/);
    const failed = await prepared.value.setupFailure(err, signal);
    assert.equal(failed?.next, "Run it again.");
    await prepared.value.dispose();
    assert.equal(runs(), 1 + 21);
  });
  assert.ok(![...Deno.readDirSync(`${root}/project`)].some(({ name }) => name === "ran"));
});

test("a command starts although the folder around a socket vanishes during the set-up, and no file is left there", async (root) => {
  const { sandbox } = vanishing(root, [`${root}/project/sub`]);
  assert.ok((await sandbox.available()).ok);
  plant(root, "project/sub/folder/");
  await listening([`${root}/project/sub/folder/s`], async () => {
    const prepared = await sandbox.prepare(["/bin/sh", "-c", "echo ran"]);
    assert.ok(prepared.ok);
    const { cwd, variables: env } = sandbox.host.environment;
    const started = prepared.value.start({ cwd, env });
    assert.ok(started.ok);
    const [out, err] = await Promise.all([
      new Response(started.value.stdout).text(),
      new Response(started.value.stderr).text(),
    ]);
    assert.deepEqual([out, err], ["ran\n", ""]);
    await prepared.value.dispose();
    // Closing the listener would remove it too.
    assert.equal(exists(`${root}/project/sub/folder/s`), false);
  });
});

for (const [reason, then] of [["for another reason", "exit 1"], ["because it is killed", "kill -9 $$"]]) {
  test(`a set-up that fails ${reason} is not repeated`, async (root) => {
    const path = `${root}/home/s`;
    const gone = reason === "for another reason" ? `${root}/nothing` : path;
    const { sandbox, runs } = vanishing(root, [gone], `[ ! -e ${root}/fails ] || ${then}; exec bwrap "$@"`);
    assert.ok((await sandbox.available()).ok);
    plant(root, "fails");
    await listening([path], async () => {
      const prepared = await sandbox.prepare(["/bin/true"]);
      assert.ok(prepared.ok);
      const { cwd, variables: env } = sandbox.host.environment;
      const started = prepared.value.start({ cwd, env });
      assert.ok(started.ok);
      await Promise.all([started.value.stdout.cancel(), started.value.stderr.cancel()]);
      const { code } = await started.value.status;
      assert.notEqual(code, 0);
      await prepared.value.dispose();
    });
    assert.equal(runs(), 2, "the probe, and one attempt");
  });
}

test("the next command starts although a socket vanished together with its folder after the last one", async (root) => {
  plant(root, "project/sub/", "home/");
  const sandbox = projectSandbox(root);
  await listening([`${root}/project/sub/s`], async () => {
    assert.equal((await runInside(sandbox, "ls sub")).out, "s\n");
  });
  Deno.removeSync(`${root}/project/sub`, { recursive: true });
  const ran = await runPrepared(sandbox, ["/bin/ls"]);
  assert.deepEqual([ran.setup, ran.out], [null, ""]);
});

test("a command that ran, or was never started, is not run again", async (root) => {
  const path = `${root}/home/s`;
  plant(root, "project/", "home/");
  const sandbox = projectSandbox(root);
  assert.ok((await sandbox.available()).ok);
  await listening([path], async () => {
    const prepared = await sandbox.prepare(["/bin/sh", "-c", "exit 3"]);
    assert.ok(prepared.ok);
    assert.equal(prepared.value.mayRunAgain?.(), false, "nothing was started");
    const { cwd, variables: env } = sandbox.host.environment;
    const started = prepared.value.start({ cwd, env });
    assert.ok(started.ok);
    await Promise.all([started.value.stdout.cancel(), started.value.stderr.cancel()]);
    assert.equal((await started.value.status).code, 3);
    Deno.removeSync(path);
    assert.equal(prepared.value.mayRunAgain?.(), false, "the command ran");
    await prepared.value.dispose();
  });
});
