import assert from "node:assert/strict";
import { escapeMountPath, mountOf, ownMount, parseMountTable } from "../../../sandbox/paths/mount_table.ts";

const TABLE = parseMountTable([
  "22 1 8:1 / / rw - ext4 /dev/sda1 rw",
  "23 22 0:5 / /dev rw - devtmpfs none rw",
  "30 22 8:2 / /home rw - ext4 /dev/sdb rw",
  "31 30 8:3 /inner/deep /home/me/a\\040b rw - ext4 /dev/sdc rw",
  "32 22 0:9 / /homework rw - tmpfs none rw",
  "33 30 0:7 / /home/over rw - tmpfs none rw",
  "34 33 0:8 / /home/over rw - tmpfs none rw",
  "35 22 0:6 / /home/hidden rw - tmpfs none rw",
  "not a mount",
  "",
].join("\n"));

Deno.test("a mount table is read line by line, and invalid lines are skipped", () => {
  assert.deepEqual(TABLE.map(({ id }) => id), [22, 23, 30, 31, 32, 33, 34, 35]);
  assert.deepEqual(TABLE[3], {
    id: 31,
    parent: 30,
    device: "8:3",
    root: "/inner/deep",
    point: "/home/me/a b",
  });
});

Deno.test("the mount of a path is found as the kernel finds it, from the root downwards", () => {
  const rows: readonly (readonly [string, number])[] = [
    ["/", 22],
    ["/etc/passwd", 22],
    ["/dev", 23],
    ["/dev/null", 23],
    ["/devices", 22],
    ["/home/me", 30],
    ["/home/me/a b", 31],
    ["/home/me/a b/c", 31],
    ["/home/me/a bc", 30],
    ["/homework/x", 32],
    // What is mounted over a mount is what one meets; what another one covers is met by nobody.
    ["/home/over/x", 34],
    ["/home/hidden/x", 30],
  ];
  for (const [path, id] of rows) assert.equal(mountOf(path, TABLE)?.id, id, path);
  assert.equal(mountOf("/x", []), null);
  assert.equal(mountOf("/x", TABLE.filter(({ point }) => point !== "/")), null);
});

Deno.test("of two mounts on /, the root is the one whose parent is not in the table", () => {
  const table = parseMountTable([
    "40 41 0:1 / / rw - tmpfs none rw",
    "41 2 8:1 / / rw - ext4 none rw",
    "42 40 8:2 / /a rw - ext4 none rw",
  ].join("\n"));
  assert.equal(mountOf("/b", table)?.id, 40);
  assert.equal(mountOf("/a", table)?.id, 42);
  // Inside a namespace whose own root hangs on nothing that can be seen.
  assert.equal(mountOf("/b", parseMountTable("40 40 0:1 / / rw - tmpfs none rw"))?.id, 40);
});

Deno.test("a path mounted onto itself is described by its file system, its path in that file system, and its mount point", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["/", "8:1 / /"],
    ["/etc", "8:1 /etc /etc"],
    ["/dev", "0:5 / /dev"],
    ["/home/me", "8:2 /me /home/me"],
    ["/home/me/a b", "8:3 /inner/deep /home/me/a\\040b"],
    ["/home/me/a b/c d", "8:3 /inner/deep/c\\040d /home/me/a\\040b/c\\040d"],
  ];
  for (const [path, expected] of rows) assert.equal(ownMount(path, TABLE), expected, path);
  assert.equal(ownMount("/x", []), null);
  assert.equal(escapeMountPath("a b\tc\nd\\e"), "a\\040b\\011c\\012d\\134e");
});
