// File tools leave the system's own files alone, whatever path leads there, and never wait for one forever.

import assert from "node:assert/strict";
import { testInScene as test } from "./scene.ts";

const variable = "FLEMMA_TEST_SECRET";

test("read returns nothing from /proc, /sys and /dev, whatever path leads to them", async (place) => {
  Deno.env.set(variable, "sk-1234");
  Deno.symlinkSync("/proc/self/environ", place.path("file"));
  Deno.symlinkSync("/proc", place.path("folder"));
  Deno.symlinkSync("file", place.path("second"));
  const paths = [
    "file",
    "second",
    "folder/self/environ",
    "/proc/self/environ",
    `/proc/${Deno.pid}/environ`,
  ];
  const others = [
    ...["/proc/self/root/proc/self/environ", "/proc/self/fd/0", "/dev/stdin", "/sys/kernel/uevent_seqnum"],
    ...["/proc/kmsg", "/dev/kmsg", "/proc/self/../self/cmdline", "/sys/../proc/self/status"],
  ];
  for (const path of [...paths, ...others]) {
    const error = await place.error("read", { path });
    assert.match(error, /^Sandbox: tools may not read .*\.$|does not exist/, path);
  }
  Deno.env.delete(variable);
});

test("a path through /proc to a file of the person works like any other path", async (place) => {
  Deno.writeTextFileSync(place.path("a"), "mine");
  assert.equal(await place.output("read", { path: `/proc/self/root${place.path("a")}` }), "mine");
});

test("write and edit do not change system files even without a sandbox, and their errors reveal nothing about them", async (place) => {
  Deno.symlinkSync("/proc/self/comm", place.path("comm"));
  for (const path of ["comm", "/proc/self/comm", "/dev/null", "/dev/shm/flemma-x/y", "/sys/x"]) {
    const sentence = `Sandbox: ${path} is a system file, which tools may not use.`;
    assert.equal(await place.error("write", { path, content: "PWNED" }), sentence);
    assert.equal(await place.error("edit", { path, oldText: "deno", newText: "PWNED" }), sentence);
  }
  assert.notEqual(Deno.readTextFileSync("/proc/self/comm"), "PWNED\n");
  assert.throws(() => Deno.lstatSync("/dev/shm/flemma-x"), Deno.errors.NotFound);
});

test("if a pipe replaces a file before it is opened, the tool does not block", async (place) => {
  const path = place.path("a");
  Deno.writeTextFileSync(path, "harmless");
  const look = Deno.stat;
  let looks = 0;
  // First the tool asks what the path is, then the function that opens it.
  Deno.stat = (looked) => {
    if (looked === path && ++looks === 2) {
      Deno.removeSync(path);
      assert.ok(new Deno.Command("mkfifo", { args: [path] }).outputSync().success);
    }
    return look(looked);
  };
  try {
    const error = await place.error("read", { path: "a" });
    assert.equal(error, "The file a could not be read: it is not a regular file.");
    assert.ok(Deno.lstatSync(path).isFifo);
  } finally {
    Deno.stat = look;
    // If a read still waits for a writer, this ends it; opened this way, a pipe without a reader blocks nobody.
    Deno.openSync(path, { read: true, write: true }).close();
  }
});
