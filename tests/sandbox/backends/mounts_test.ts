// The mounts on top of the writable paths, as lists.

import assert from "node:assert/strict";
import { mountArguments, type MountPlan } from "../../../sandbox/backends/mounts.ts";

function mounts(plan: Partial<MountPlan>): string[] {
  return mountArguments({
    writable: [],
    inner: [],
    protect: [],
    links: [],
    hidden: [],
    empty: [],
    masked: [],
    late: [],
    kept: [],
    ...plan,
  });
}

const bind = (path: string) => ["--bind", path, path];
const readOnly = (path: string) => ["--ro-bind", path, path];
const covered = (path: string) => ["--ro-bind", "/dev/null", path];

Deno.test("every parent folder of a protected path becomes a mount point, beginning with the outermost", () => {
  const protect = ["/w/a/b/f", "/w/.git/hooks", "/w/.git/config"];
  assert.deepEqual(mounts({ protect, writable: ["/w"] }), [
    ...bind("/w/.git"),
    ...readOnly("/w/.git/config"),
    ...readOnly("/w/.git/hooks"),
    ...bind("/w/a"),
    ...bind("/w/a/b"),
    ...readOnly("/w/a/b/f"),
  ]);
});

Deno.test("the folders around a link to a protected path become mount points too, but not the link itself", () => {
  assert.deepEqual(mounts({ links: ["/w/a/b/link", "/elsewhere/x/y"], writable: ["/w"] }), [
    ...bind("/w/a"),
    ...bind("/w/a/b"),
  ]);
});

Deno.test("the folders around hidden paths and masked sockets become mount points", () => {
  const hidden = [{ path: "/w/a/b/key", folder: false }];
  assert.deepEqual(mounts({ hidden, masked: ["/w/s/agent"], writable: ["/w"] }), [
    ...bind("/w/a"),
    ...bind("/w/a/b"),
    ...covered("/w/a/b/key"),
    ...bind("/w/s"),
    ...covered("/w/s/agent"),
  ]);
});

Deno.test("a link or a hidden path deep inside a protected folder does not make any path there writable", () => {
  const hidden = [{ path: "/w/p/c/d/key", folder: false }];
  assert.deepEqual(mounts({ protect: ["/w/p"], links: ["/w/p/a/b/link"], hidden, writable: ["/w"] }), [
    ...readOnly("/w/p"),
    ...covered("/w/p/c/d/key"),
  ]);
});

Deno.test("a writable folder inside a protected folder is not made writable again", () => {
  assert.deepEqual(mounts({ protect: ["/w/p/q/r", "/w/p"], writable: ["/w"] }), readOnly("/w/p"));
});

Deno.test("paths outside the writable ones need no mount, and a writable path inside a protected path is ignored", () => {
  assert.deepEqual(mounts({ protect: ["/etc/x", "/w-other/y"], writable: ["/w"] }), []);
  assert.deepEqual(
    mounts({ protect: ["/state"], writable: ["/state/flemma", "/w"] }),
    readOnly("/state/flemma"),
  );
  assert.deepEqual(mounts({ protect: ["/w"], writable: ["/w"] }), readOnly("/w"));
});

Deno.test("if every path is writable, all folders from the root down to a protected path become mount points", () => {
  assert.deepEqual(mounts({ protect: ["/a/b/c"], writable: ["/"] }), [
    ...bind("/a"),
    ...bind("/a/b"),
    ...readOnly("/a/b/c"),
  ]);
});

Deno.test("a hidden folder is replaced by an empty, inaccessible and read-only folder, a hidden file by an empty device", () => {
  const hidden = [{ path: "/h/.ssh", folder: true }, { path: "/h/.netrc", folder: false }];
  assert.deepEqual(mounts({ hidden, masked: ["/run/docker.sock"] }), [
    ...covered("/h/.netrc"),
    ...["--perms", "0000", "--tmpfs", "/h/.ssh"],
    ...covered("/run/docker.sock"),
    ...["--remount-ro", "/h/.ssh"],
  ]);
});

Deno.test("if hidden and writable paths overlap, the longest path decides; if they are equal, the path is hidden", () => {
  const writable = ["/h/place", "/h/secret/shared", "/h/same"];
  const hidden = ["/h/secret", "/h/place/keys", "/h/same"].map((path) => ({ path, folder: true }));
  const list = mounts({ writable, hidden }).join(" ");
  assert.ok(list.includes("--perms 0111 --tmpfs /h/secret --bind /h/secret/shared /h/secret/shared"), list);
  assert.ok(
    list.includes("--perms 0000 --tmpfs /h/place/keys") && list.includes("--perms 0000 --tmpfs /h/same"),
  );
  assert.ok(list.indexOf("--bind /h/secret/shared") < list.indexOf("--remount-ro /h/secret"), list);
  assert.ok(!list.includes("--bind /h/same"), list);
});

Deno.test("with a private /tmp, writable paths inside /tmp stay visible and protected, and all other paths in it disappear", () => {
  const plan = {
    writable: ["/tmp"],
    inner: ["/tmp/place"],
    protect: ["/tmp/place/.git/config", "/tmp/other/.git/config"],
    empty: [{ path: "/tmp", size: 4096 }],
    masked: ["/tmp/tmux-0/default"],
  };
  assert.deepEqual(mounts(plan), [
    ...["--size", "4096", "--tmpfs", "/tmp"],
    ...bind("/tmp/place"),
    ...bind("/tmp/place/.git"),
    ...readOnly("/tmp/place/.git/config"),
  ]);
});

Deno.test("if the folder of an allowed socket is emptied, the socket is mounted again; otherwise it needs no mount", () => {
  const empty = [{ path: "/run/user/7" }];
  assert.deepEqual(mounts({ empty, kept: ["/run/user/7/bus", "/run/docker.sock"] }), [
    ...["--tmpfs", "/run/user/7"],
    ...bind("/run/user/7/bus"),
  ]);
});

Deno.test("an emptied folder remains empty even if it is a protected path or contains one", () => {
  const plan = { writable: ["/w"], protect: ["/w/run/flemma"], empty: [{ path: "/w/run" }] };
  assert.deepEqual(mounts(plan), ["--tmpfs", "/w/run"]);
});

Deno.test("the folders around sockets that are masked at the last moment become mount points if they still exist", () => {
  assert.deepEqual(
    mounts({ writable: ["/w"], late: ["/w/s/agent", "/r/agent"] }),
    ["--bind-try", "/w/s", "/w/s"],
  );
  assert.deepEqual(
    mounts({ writable: ["/w"], masked: ["/w/s/other"], late: ["/w/s/agent"] }),
    ["--bind", "/w/s", "/w/s", "--ro-bind", "/dev/null", "/w/s/other"],
    "a folder that must stay in place for another reason must exist",
  );
  assert.deepEqual(
    mounts({ writable: ["/w"], protect: ["/w/s"], late: ["/w/s/t/agent"] }),
    ["--ro-bind", "/w/s", "/w/s"],
  );
});
