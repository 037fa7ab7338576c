// The table of the reference that compares both sandboxes: each row is tried in both of them.

import assert from "node:assert/strict";
import { landlockVersion } from "../../../sandbox/kernel/landlock_version.ts";
import { sandboxStatus } from "../../../sandbox/mod.ts";
import { ROOT } from "../../../scripts/gate/root.ts";
import { lives } from "../attacks/types.ts";
import { testInFolder } from "../../folder.ts";
import { exists, plant, projectSandbox, type Ran, runPrepared } from "../fixture.ts";

const version = landlockVersion();
const test: typeof testInFolder = version.ok && version.value >= 6 ? testInFolder : () => {};

type Kind = "bubblewrap" | "Landlock, exact" | "Landlock, repaired";
const KINDS: readonly Kind[] = ["bubblewrap", "Landlock, exact", "Landlock, repaired"];

/** What a kind of sandbox does with a row of the table. */
interface Tried {
  readonly kind: Kind;
  readonly root: string;
  /** Runs a command, with these changes of the policy. */
  run(shell: string, policy?: Record<string, unknown>): Promise<Ran & { readonly repaired: string }>;
}

/** A command that says `refused` if it fails. */
const or = (shell: string) => `(${shell}) >/dev/null 2>&1 || echo refused`;
const socket = (family: string) => `python3 -c 'import socket; socket.socket(socket.${family})'`;
const read = (path: string) => Deno.readTextFileSync(path);

/** How each row is tried. A row of the table without an entry is a fault. */
const ROWS: Readonly<Record<string, (tried: Tried) => Promise<void>>> = {
  "writing outside the writable folders": async ({ root, run }) => {
    assert.equal((await run(or(`echo x > ${root}/outside`))).out, "refused\n");
  },
  "hidden paths": async ({ kind, root, run }) => {
    const policy = { deny_read: [`${root}/near/secret`] };
    const shell = `cat ${root}/near/secret 2>/dev/null; cat ${root}/near/other; ls ${root}/near`;
    assert.equal((await run(shell, policy)).out, "text of near/other\nother\nsecret\n");
    const later = `while [ ! -e go ]; do sleep 0.01; done; ${or(`cat ${root}/near/new`)}`;
    const running = run(`touch begun; ${later}`, policy);
    const folder = kind === "Landlock, exact" ? `${root}/project/free` : `${root}/project`;
    while (!exists(`${folder}/begun`)) await new Promise((resolve) => setTimeout(resolve, 5));
    plant(root, "near/new");
    plant(folder, "go");
    assert.equal((await running).out, kind === "bubblewrap" ? "" : "refused\n");
  },
  "protected files in writable folders": async ({ kind, root, run }) => {
    if (kind === "Landlock, exact") return;
    const file = `${root}/project/.flemma/config.yaml`;
    const { out, repaired } = await run(or(`echo x > ${file}; chmod 777 ${file}; grep -qx x ${file}`));
    assert.equal(out, kind === "bubblewrap" ? "refused\n" : "");
    if (kind !== "bubblewrap") assert.match(repaired, /Restored .*config\.yaml/);
    assert.equal(read(file), "text of project/.flemma/config.yaml\n");
    assert.equal(Deno.statSync(file).mode! & 0o111, 0);
  },
  "the document": async ({ kind, root, run }) => {
    const document = `${root}/project/notes.chat`;
    const { out } = await run(or(`echo x >> ${document}`));
    assert.equal(out, kind === "Landlock, repaired" ? "" : "refused\n");
    assert.equal(read(document), `text of project/notes.chat\n${out === "" ? "x\n" : ""}`);
    await run(or(`rm -f ${document}`));
    assert.ok(exists(document));
  },
  "modes of your other files": async ({ kind, root, run }) => {
    for (const path of [`${root}/outside`, `${root}/home/.profile`]) Deno.chmodSync(path, 0o644);
    const { out, repaired } = await run(
      `${or(`chmod 666 ${root}/outside`)}; ${or(`chmod 666 ${root}/home/.profile`)}`,
    );
    const isRefused = kind === "bubblewrap";
    assert.equal(out, isRefused ? "refused\nrefused\n" : "");
    assert.equal(Deno.statSync(`${root}/outside`).mode! & 0o777, isRefused ? 0o644 : 0o666);
    assert.equal(Deno.statSync(`${root}/home/.profile`).mode! & 0o777, 0o644);
    if (!isRefused) assert.match(repaired, /Restored the permissions of .*\.profile/);
  },
  "`network: false`": async ({ kind, run }) => {
    const { out } = await run(`${or(socket("AF_INET"))}; ${or("echo > /dev/tcp/1.1.1.1/80")}`, {
      network: false,
    });
    assert.equal(out, kind === "bubblewrap" ? "refused\n" : "refused\nrefused\n");
  },
  "a network list": async ({ kind, root, run }) => {
    if (kind === "bubblewrap") return; // The attacks on network lists try it.
    const network = { allow: ["example.org"] };
    const listens = or("python3 -c 'import socket; socket.socket().listen()'");
    const connects = `python3 -c 'import socket; print(socket.socket().connect_ex(("127.0.0.1", 9)))'`;
    const shell = `${or(socket("AF_INET6"))}; ${listens}; ${connects}; echo "\${HTTP_PROXY%%:*}"`;
    // 13 is EACCES. Without Landlock, nothing would answer there.
    assert.equal((await run(shell, { network })).out, "refused\nrefused\n13\nhttp\n");
    const policy = { network, rw_paths: [`${root}/project/free`] };
    const status = await sandboxStatus(projectSandbox(root, { backend: "landlock", policy }));
    assert.equal(status.kind, "repaired");
  },
  "local sockets": async ({ kind, root, run }) => {
    const shell = or(socket("AF_UNIX"));
    assert.equal((await run(shell)).out, kind === "bubblewrap" ? "" : "refused\n");
    if (kind !== "bubblewrap") {
      plant(root, "sockets/");
      using _ = Deno.listen({ transport: "unix", path: `${root}/sockets/one` });
      assert.equal((await run(shell, { sockets: [`${root}/sockets/one`] })).out, "");
    }
  },
  "other processes": async ({ kind, run }) => {
    const { out } = await run(
      `${or(`test -e /proc/${Deno.pid}`)}; ${or(`kill -0 ${Deno.pid}`)}; ${
        or(`cat /proc/${Deno.pid}/environ`)
      }`,
    );
    assert.equal(out, "refused\n".repeat(kind === "bubblewrap" ? 3 : 2));
  },
  "shared memory": async ({ kind, run }) => {
    const name = `flemma-test-${crypto.randomUUID()}`;
    const { out } = await run(or(`echo x > /dev/shm/${name}`));
    assert.equal(out, kind === "bubblewrap" ? "" : "refused\n");
    assert.ok(!exists(`/dev/shm/${name}`));
  },
  "processes that a command leaves": async ({ run }) => {
    const mark = `${600 + Math.random()}`;
    await run(`env -i setsid sleep ${mark} >/dev/null 2>&1 </dev/null & true`);
    assert.ok(!lives(mark));
  },
};

/** The first cells of the rows of the table, without its head. */
function rowsOfTable(): string[] {
  const page = read(`${ROOT}/docs/reference/sandbox.md`);
  const lines = page.slice(page.indexOf(`| | ${KINDS.join(" | ")} |`)).split("\n");
  return lines.slice(2, lines.findIndex((line) => line === "")).map((line) => line.split(" | ")[0]!.slice(2));
}

function tried(kind: Kind, root: string): Tried {
  const backend = kind === "bubblewrap" ? "required" : "landlock";
  const folder = kind === "Landlock, exact" ? `${root}/project/free` : `${root}/project`;
  return {
    kind,
    root,
    run: async (shell, more = {}) => {
      const policy = { rw_paths: [folder], ...more };
      const sandbox = projectSandbox(root, { backend, policy }, {
        protect: [`${root}/project/notes.chat`, `${root}/project/.flemma/config.yaml`],
      });
      const ran = await runPrepared(sandbox, ["/bin/bash", "-c", `cd ${folder}; ${shell}`]);
      assert.equal(ran.setup, null, ran.err);
      const repaired = sandbox.takeRepaired().join("\n");
      await sandbox.endWorker();
      return { ...ran, repaired };
    },
  };
}

test("each row of the table that compares bubblewrap and Landlock is true", async (folder) => {
  assert.deepEqual(rowsOfTable().sort(), Object.keys(ROWS).sort());
  for (const [at, [row, tryRow]] of Object.entries(ROWS).entries()) {
    for (const [index, kind] of KINDS.entries()) {
      const root = `${folder}/${at}-${index}`;
      plant(
        root,
        ...["project/notes.chat", "project/.flemma/config.yaml", "project/free/", "outside", "home/.profile"],
        ...["near/secret", "near/other"],
      );
      try {
        await tryRow(tried(kind, root));
      } catch (thrown) {
        throw new Error(`${row}, ${kind}`, { cause: thrown });
      }
    }
  }
});
