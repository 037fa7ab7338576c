// Files of a killed run in the private folder are removed by the next run, and no others.

import assert from "node:assert/strict";
import { isThere } from "../../../base/files.ts";
import { isAbandoned, ownedName } from "../../../sandbox/process/owned_names.ts";
import { PrivateFiles } from "../../../sandbox/process/private_files.ts";
import { plant, world } from "../fixture.ts";
import { inFolder } from "../../folder.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const PROGRAM = `
const { PrivateFiles } = await import(${
  JSON.stringify(new URL("../../../sandbox/process/private_files.ts", import.meta.url).href)
});
const files = PrivateFiles.open({ cwd: "/", home: "/", variables: { XDG_RUNTIME_DIR: Deno.args[0] } });
const [status, draft] = [files.value.fresh("status"), files.value.fresh("ssh")];
Deno.writeTextFileSync(status, "");
Deno.mkdirSync(draft);
Deno.writeTextFileSync(draft + "/config", "");
console.log(JSON.stringify([status, draft]));
await new Promise((resolve) => setTimeout(resolve, 600_000));
`;

Deno.test(
  "the next run removes files of a killed run and keeps those of a running run",
  linux,
  () =>
    inFolder(async (root) => {
      const start = async () => {
        plant(root, "program.ts");
        Deno.writeTextFileSync(`${root}/program.ts`, PROGRAM);
        const child = new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", "--quiet", "--no-check", `${root}/program.ts`, `${root}/run`],
          stdin: "null",
          stdout: "piped",
        }).spawn();
        const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
        const paths: string[] = JSON.parse((await reader.read()).value ?? "[]");
        return { child, reader, paths };
      };
      const killed = await start();
      const alive = await start();
      try {
        killed.child.kill("SIGKILL");
        await killed.child.status;
        assert.deepEqual(killed.paths.map(isThere), [true, true]);
        plant(root, "run/flemma/probe-1", "run/flemma/seccomp-8-0123abcd", "run/flemma/status-1");
        const files = PrivateFiles.open(world(root, { XDG_RUNTIME_DIR: `${root}/run` }));
        assert.ok(files.ok);
        assert.deepEqual(killed.paths.map(isThere), [false, false]);
        assert.deepEqual(alive.paths.map(isThere), [true, true]);
        for (const kept of ["probe-1", "seccomp-8-0123abcd", "status-1"]) {
          assert.ok(isThere(`${root}/run/flemma/${kept}`), kept);
        }
      } finally {
        alive.child.kill("SIGKILL");
        await alive.child.status;
        for (const { reader } of [killed, alive]) await reader.cancel();
      }
    }),
);

Deno.test(
  "a file counts as abandoned only if exactly its process has ended; a process that is not visible here may still run",
  linux,
  () => {
    const own = ownedName("status");
    const [kind, owner = "", random] = own.split("-");
    const [pid, started, namespace] = owner.split(".");
    const named = (...parts: readonly unknown[]) => `${kind}-${parts.join(".")}-${random}`;
    const none = (2 ** 22 + 1).toString(36);
    const rows: readonly (readonly [string, boolean])[] = [
      [own, false],
      [named(none, started, namespace), true],
      // The number went to another process since.
      [named(pid, `${started}1`, namespace), true],
      // Of another container that shares the folder.
      [named(none, started, `${namespace}1`), false],
      [named(none, started), false],
      [`status-${random}`, false],
      [`${named(none, started, namespace)}x`, false],
      [`X${named(none, started, namespace)}`, false],
    ];
    for (const [name, abandoned] of rows) assert.equal(isAbandoned(name), abandoned, name);
  },
);

Deno.test(
  "a process that has ended owns no files, even if its parent has not collected it yet",
  linux,
  async () => {
    // The shell becomes a program that never collects its child; the child lives until then.
    const parent = new Deno.Command("/bin/sh", {
      args: ["-c", "exec 3<&0; { read go <&3; } & echo $!; exec sleep 600 </dev/null 3<&-"],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const reader = parent.stdout.pipeThrough(new TextDecoderStream()).getReader();
    try {
      const pid = Number((await reader.read()).value);
      const until = async (isSo: () => boolean) => {
        while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
      };
      await until(() => Deno.readTextFileSync(`/proc/${parent.pid}/comm`) === "sleep\n");
      await parent.stdin.close();
      const stat = () => {
        const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
        return text.slice(text.lastIndexOf(")") + 2).split(" ");
      };
      await until(() => stat()[0] === "Z");
      const namespace = ownedName("x").split("-")[1]!.split(".")[2];
      const started = Number(stat()[19]).toString(36);
      assert.ok(isAbandoned(`status-${pid.toString(36)}.${started}.${namespace}-00`));
    } finally {
      parent.kill("SIGKILL");
      await parent.status;
      await reader.cancel();
    }
  },
);
