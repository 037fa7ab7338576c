// Reading files that cannot be trusted: the system's own, replaced ones, and those that never answer.

import assert from "node:assert/strict";
import { readChecked, readCheckedSync, TimeOver, withTimeout } from "../../base/system/reading.ts";
import { isSystemFile, isSystemPath, systemDevices } from "../../base/system/system_files.ts";

Deno.test("paths below /proc, /sys and /dev count as system files, and paths that only look similar do not", () => {
  for (const path of ["/proc", "/proc/self/environ", "/sys/kernel", "/dev/shm/x"]) {
    assert.ok(isSystemPath(path));
  }
  for (const path of ["/process", "/home/proc/x", "/developer", "/"]) assert.ok(!isSystemPath(path));
});

Deno.test("a file is recognized as a system file by its path or by its device", () => {
  const { dev } = Deno.statSync("/proc/self/environ");
  const own = Deno.statSync(new URL(import.meta.url));
  assert.ok(isSystemFile("/srv/root/proc/self/environ", { dev }));
  assert.ok(isSystemFile("/proc/self/environ", own));
  assert.ok(!isSystemFile("/srv/root/proc/self/environ", own));
});

Deno.test("the devices of system file systems are found in the list of mounts", () => {
  const mountinfo = [
    "22 27 0:21 / /srv/a\\040b/proc rw,relatime shared:5 - proc proc rw",
    "27 1 254:3 / / rw - ext4 /dev/vda rw",
    "28 1 0:300 / /x rw - sysfs sysfs rw",
    "a line that is none",
    "",
  ].join("\n");
  assert.deepEqual([...systemDevices(mountinfo)], [21, 2 ** 20 + 44]);
});

async function inFolder(body: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    await body(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function both(path: string, evaluate: Parameters<typeof readChecked>[1]): Promise<string[]> {
  const read = [await readChecked(path, evaluate), readCheckedSync(path, evaluate)];
  return read.map((bytes) =>
    typeof bytes === "string" ? `refused: ${bytes}` : new TextDecoder().decode(bytes)
  );
}

Deno.test("if the path is a link, its target is checked", () =>
  inFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/a`, "text");
    Deno.symlinkSync("a", `${folder}/link`);
    const evaluated: string[] = [];
    const evaluate = (real: string) => {
      evaluated.push(real);
      return null;
    };
    assert.deepEqual(await both(`${folder}/link`, evaluate), ["text", "text"]);
    assert.deepEqual(evaluated, [`${folder}/a`, `${folder}/a`]);
    assert.deepEqual(await both(`${folder}/link`, () => "no"), ["refused: no", "refused: no"]);
  }));

for (
  const [what, exchange] of [
    ["another file", (folder: string) => Deno.renameSync(`${folder}/secret`, `${folder}/d/a`)],
    ["a link to another file", (folder: string) => {
      Deno.removeSync(`${folder}/d/a`);
      Deno.symlinkSync("../secret", `${folder}/d/a`);
    }],
    ["a link instead of the folder, to a hard link of the same file", (folder: string) => {
      Deno.mkdirSync(`${folder}/e`);
      Deno.linkSync(`${folder}/d/a`, `${folder}/e/a`);
      Deno.removeSync(`${folder}/d`, { recursive: true });
      Deno.symlinkSync("e", `${folder}/d`);
    }],
  ] as const
) {
  Deno.test(`if ${what} replaces a file between check and opening, the file is not read`, async () => {
    for (const read of [readChecked, readCheckedSync]) {
      await inFolder(async (folder) => {
        Deno.mkdirSync(`${folder}/d`);
        Deno.writeTextFileSync(`${folder}/d/a`, "harmless");
        Deno.writeTextFileSync(`${folder}/secret`, "secret");
        const answer = await read(`${folder}/d/a`, () => {
          exchange(folder);
          return null;
        });
        assert.equal(answer, "it was replaced while flemma opened it");
      });
    }
  });
}

const never = new Promise<never>(() => {});

Deno.test("a file that is read in time is returned unchanged", async () => {
  assert.equal(await withTimeout(60, Promise.resolve(1)), 1);
  await assert.rejects(withTimeout(60, Promise.reject(new Error("x"))), { message: "x" });
});

Deno.test("a read that never ends is given up after its timeout", async () => {
  await assert.rejects(withTimeout(0.001, never), TimeOver);
});

Deno.test("a wait ends when the person stops it, even if the stop came before the wait began", async () => {
  const controller = new AbortController();
  const waiting = withTimeout(60, never, controller.signal);
  controller.abort(new Error("stopped"));
  await assert.rejects(waiting, { message: "stopped" });
  await assert.rejects(withTimeout(60, never, controller.signal), { message: "stopped" });
});

Deno.test("a process can exit although an abandoned read of a file has not ended", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const pipe = `${folder}/pipe`;
    assert.ok(new Deno.Command("mkfifo", { args: [pipe] }).outputSync().success);
    const reading = JSON.stringify(new URL("../../base/system/reading.ts", import.meta.url).href);
    const program = `
      import { withTimeout } from ${reading};
      const opened = Deno.open(${JSON.stringify(pipe)});
      await withTimeout(0.01, opened).catch((thrown) => console.log(thrown.message));
      Deno.exit(7);`;
    const { code, stdout } = new Deno.Command(Deno.execPath(), { args: ["eval", program] }).outputSync();
    assert.equal(new TextDecoder().decode(stdout), "no answer within 0.01 seconds\n");
    assert.equal(code, 7);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
