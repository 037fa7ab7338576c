// Which files are the system's own, wherever they are mounted.

import assert from "node:assert/strict";
import { isSystemFile, isSystemPath, systemDevices } from "../../base/system_files.ts";

Deno.test("what lies below /proc, /sys and /dev is the system's, and what only sounds like it is not", () => {
  for (const path of ["/proc", "/proc/self/environ", "/sys/kernel", "/dev/shm/x"]) {
    assert.ok(isSystemPath(path));
  }
  for (const path of ["/process", "/home/proc/x", "/developer", "/"]) assert.ok(!isSystemPath(path));
});

Deno.test("a file is the system's by its place or by its device", () => {
  const { dev } = Deno.statSync("/proc/self/environ");
  const own = Deno.statSync(new URL(import.meta.url));
  assert.ok(isSystemFile("/srv/root/proc/self/environ", { dev }));
  assert.ok(isSystemFile("/proc/self/environ", own));
  assert.ok(!isSystemFile("/srv/root/proc/self/environ", own));
});

Deno.test("the devices of the system's file systems are found in the list of mounts", () => {
  const mountinfo = [
    "22 27 0:21 / /srv/a\\040b/proc rw,relatime shared:5 - proc proc rw",
    "27 1 254:3 / / rw - ext4 /dev/vda rw",
    "28 1 0:300 / /x rw - sysfs sysfs rw",
    "a line that is none",
    "",
  ].join("\n");
  assert.deepEqual([...systemDevices(mountinfo)], [21, 2 ** 20 + 44]);
});
