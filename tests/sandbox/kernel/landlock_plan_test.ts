// The plan for Landlock, as a table: what is granted, what is left out, and what is refused.

import assert from "node:assert/strict";
import {
  type FileSystemFacts,
  type FolderEntry,
  type LandlockPlan,
  planLandlock,
  RIGHTS,
} from "../../../sandbox/kernel/landlock_plan.ts";
import { emptyPolicy } from "../../../sandbox/protect/mountable.ts";
import type { MountablePolicy } from "../../../sandbox/types.ts";

/** A tree as data: a null is a file, a string is a link. */
type Tree = { readonly [name: string]: Tree | string | null };

const TREE: Tree = {
  bin: "usr/bin",
  dev: { null: null, sda: null, shm: {} },
  etc: { passwd: null },
  home: {
    ann: { ".ssh": { id: null }, ".netrc": null, work: { "notes.chat": null, sub: {} }, link: "/etc" },
  },
  proc: {},
  run: { user: { 1000: { bus: null } } },
  tmp: {},
  usr: { bin: {} },
};

function entryOf(name: string, node: Tree | string | null): FolderEntry {
  return { name, kind: node === null ? "file" : typeof node === "string" ? "link" : "folder" };
}

function filesOf(tree: Tree): FileSystemFacts {
  const at = (path: string) =>
    path.split("/").filter(Boolean).reduce<Tree | string | null | undefined>(
      (node, name) => typeof node === "object" && node !== null ? node[name] : undefined,
      tree,
    );
  return {
    kindOf(path) {
      const node = at(path);
      return node === undefined ? null : entryOf("", node).kind;
    },
    entries(folder) {
      const node = at(folder);
      return typeof node === "object" && node !== null
        ? Object.entries(node).map(([name, inner]) => entryOf(name, inner))
        : [];
    },
  };
}

function policyOf(changes: Partial<MountablePolicy> = {}): MountablePolicy {
  return { ...emptyPolicy(false), rw_paths: ["/home/ann/work", "/tmp"], ...changes };
}

function planOf(changes: Partial<MountablePolicy> = {}, abi = 7, compared: string[] = []): LandlockPlan {
  const plan = planLandlock(policyOf(changes), abi, filesOf(TREE), compared);
  assert.ok(plan.ok, plan.ok ? "" : plan.problem.message);
  return plan.value;
}

/** The rights that a command has at a path: those of all rules above it together. */
function rightsAt(plan: LandlockPlan, path: string): number {
  return plan.rules.filter((rule) =>
    rule.path === "/" || path === rule.path || path.startsWith(`${rule.path}/`)
  )
    .reduce((all, { rights }) => all | rights, 0);
}

const can = (plan: LandlockPlan, right: keyof typeof RIGHTS, path: string) =>
  (rightsAt(plan, path) & RIGHTS[right]) !== 0;

Deno.test("everything but devices can be read, and only the writable paths can be written", () => {
  const plan = planOf();
  for (const path of ["/etc/passwd", "/usr/bin/sh", "/home/ann/.ssh/id", "/proc/self/status"]) {
    assert.ok(can(plan, "read_file", path), path);
    assert.ok(can(plan, "execute", path), path);
    for (const right of ["write_file", "make_reg", "remove_file", "truncate", "refer"] as const) {
      assert.ok(!can(plan, right, path), `${right} ${path}`);
    }
  }
  for (const path of ["/tmp/x", "/home/ann/work/x"]) {
    for (
      const right of [
        "write_file",
        "make_reg",
        "make_dir",
        "make_sym",
        "remove_dir",
        "refer",
        "truncate",
      ] as const
    ) {
      assert.ok(can(plan, right, path), `${right} ${path}`);
    }
    for (const right of ["make_char", "make_block", "ioctl_dev"] as const) {
      assert.ok(!can(plan, right, path), right);
    }
  }
  assert.ok(can(plan, "write_file", "/dev/null"));
  for (const path of ["/dev/sda", "/dev/shm/x", "/dev/pts/0"]) {
    assert.ok(!can(plan, "read_file", path) && !can(plan, "write_file", path), path);
  }
});

Deno.test("a hidden path is unreadable, and all its neighbors are readable", () => {
  const hidden = [{ path: "/home/ann/.ssh", folder: true }, { path: "/home/ann/.netrc", folder: false }];
  const plan = planOf({ hidden, runtime: ["/run/user/1000"] });
  for (const path of ["/home/ann/.ssh/id", "/home/ann/.ssh", "/home/ann/.netrc", "/run/user/1000/bus"]) {
    assert.ok(!can(plan, "read_file", path), path);
  }
  for (const path of ["/home/ann/work/notes.chat", "/etc/passwd"]) {
    assert.ok(can(plan, "read_file", path), path);
  }
  assert.ok(can(plan, "read_dir", "/home/ann"), "folders above hidden paths can be listed");
  assert.ok(!can(plan, "read_file", "/home/ann/new"), "a new neighbor is unreadable");
  assert.ok(
    !plan.rules.some(({ path }) => path === "/home/ann/link"),
    "a rule for a link would grant its target",
  );
});

Deno.test("a writable path inside a hidden folder is readable and writable", () => {
  const plan = planOf({ hidden: [{ path: "/home/ann", folder: true }] });
  assert.ok(can(plan, "write_file", "/home/ann/work/x") && can(plan, "read_file", "/home/ann/work/x"));
  assert.ok(!can(plan, "read_file", "/home/ann/.netrc"));
});

Deno.test("a writable folder gets one rule, whatever is hidden inside", () => {
  const plan = planOf({ runtime: ["/tmp/tmux-0"] });
  assert.deepEqual(plan.rules.filter(({ path }) => path.startsWith("/tmp")).map(({ path }) => path), [
    "/tmp",
  ]);
  assert.ok(can(plan, "read_file", "/tmp/x") && can(plan, "read_dir", "/tmp/x"));
});

Deno.test("a writable file gets only rights that apply to files", () => {
  const rule = planOf({ rw_paths: ["/home/ann/.netrc"] }).rules.find(({ rights }) =>
    rights & RIGHTS.write_file
  );
  assert.equal(rule?.path, "/home/ann/.netrc");
  assert.equal(rule!.rights & (RIGHTS.read_dir | RIGHTS.make_reg | RIGHTS.refer), 0);
});

Deno.test("the rights follow the version of the kernel interface, and what is missing is named or refused", () => {
  const tooOld = planLandlock(policyOf(), 1, filesOf(TREE));
  assert.equal(tooOld.ok ? "" : tooOld.problem.code, "landlock-too-old");
  const highest = (abi: number) => 31 - Math.clz32(planOf({}, abi).handled);
  assert.deepEqual([2, 3, 4, 5, 6, 7, 8, 9].map(highest), [13, 14, 14, 15, 15, 15, 15, 15]);
  for (const abi of [2, 3, 4, 5, 6, 7]) {
    const plan = planOf({ network: false }, abi);
    assert.equal(plan.refusesTcp, abi >= 4, `TCP at ${abi}`);
    assert.equal(plan.kind, abi >= 6 ? "exact" : "repaired", `kind at ${abi}`);
    assert.equal(plan.notCovered.some((line) => line.includes("signals")), abi < 6, `signals at ${abi}`);
    assert.equal(plan.notCovered.some((line) => line.includes("emptied")), abi < 3, `truncate at ${abi}`);
    for (const { rights } of plan.rules) assert.equal(rights & ~plan.handled, 0, `unknown rights at ${abi}`);
  }
});

Deno.test("a plan is exact only if nothing is left to compare or to keep in place", () => {
  assert.equal(planOf().kind, "exact");
  assert.equal(planOf({}, 7, ["/home/ann/work/notes.chat"]).kind, "repaired");
  assert.equal(planOf({ inner: ["/home/ann/work/sub"] }).kind, "repaired");
  assert.equal(planOf({ sockets: ["/run/docker.sock"] }).kind, "repaired");
  assert.equal(planOf({ links: ["/home/ann/work/link"] }).kind, "repaired");
});

Deno.test("what rules cannot express is refused with the reason", () => {
  const cases: Record<string, [changes: Partial<MountablePolicy>, says: RegExp]> = {
    "a hidden file in a writable folder": [
      { hidden: [{ path: "/home/ann/work/.env", folder: false }] },
      /cannot hide \/home\/ann\/work\/\.env/,
    ],
    "a protected path that cannot be compared": [
      { protect: ["/home/ann/work/big"] },
      /cannot protect \/home\/ann\/work\/big/,
    ],
    "a protected folder around a writable one": [{ protect: ["/home/ann"] }, /cannot protect \/home\/ann,/],
    "privileges": [{ allow_privileged: true }, /privileges/],
    "a size of /tmp": [{ limits: { tmp_size: 1 } }, /size of \/tmp/],
    "the root as a writable path": [{ rw_paths: ["/"] }, /cannot make \/ writable/],
    "a writable path below /dev": [{ rw_paths: ["/dev/shm"] }, /cannot make \/dev\/shm writable/],
  };
  for (const [name, [changes, says]] of Object.entries(cases)) {
    const plan = planLandlock(policyOf(changes), 7, filesOf(TREE));
    assert.equal(plan.ok ? "" : plan.problem.code, "landlock-cannot", name);
    assert.match(plan.ok ? "" : plan.problem.message, says, name);
    assert.ok(!plan.ok && plan.problem.next !== undefined, name);
  }
});

Deno.test("a network list allows a single port, is never exact, and is refused if the kernel cannot limit ports", () => {
  const list = { network: false, network_allow: ["example.org"] };
  for (const abi of [4, 6, 9]) {
    const { kind, proxied, refusesTcp, notCovered } = planOf(list, abi);
    assert.deepEqual([kind, proxied, refusesTcp], ["repaired", true, true], `ABI ${abi}`);
    assert.ok(notCovered.some((line) => line.includes("port of the proxy")), `ABI ${abi}`);
  }
  for (const abi of [2, 3]) {
    const plan = planLandlock(policyOf(list), abi, filesOf(TREE));
    assert.equal(plan.ok ? "" : plan.problem.code, "landlock-cannot", `ABI ${abi}`);
    assert.match(plan.ok ? "" : plan.problem.message, /hosts of a list on this kernel/, `ABI ${abi}`);
    assert.match(plan.ok ? "" : plan.problem.next ?? "", /Linux 6\.7/, `ABI ${abi}`);
  }
  for (const other of [{ network: true, network_allow: ["example.org"] }, { network: false }, {}]) {
    const { kind, proxied, notCovered } = planOf(other);
    assert.deepEqual([kind, proxied], ["exact", false], JSON.stringify(other));
    assert.ok(!notCovered.some((line) => line.includes("proxy")), JSON.stringify(other));
    assert.ok(planLandlock(policyOf(other), 3, filesOf(TREE)).ok, JSON.stringify(other));
  }
});

Deno.test("each topic that is not covered is named only if it applies", () => {
  const lines = (changes: Partial<MountablePolicy>, compared: string[] = []) =>
    planOf(changes, 7, compared).notCovered.join("\n");
  assert.match(lines({}, ["/home/ann/work/notes.chat"]), /compared and restored/);
  assert.match(lines({}, ["/home/ann/work/notes.chat"]), /text of the document/);
  assert.doesNotMatch(lines({}), /compared and restored|names of hidden|local sockets/);
  assert.match(lines({ hidden: [{ path: "/etc/passwd", folder: false }] }), /names of hidden files/);
  assert.match(lines({ runtime: ["/tmp/tmux-0"] }), /Folders of sockets/);
  assert.doesNotMatch(lines({ runtime: ["/run/user/1000"] }), /Folders of sockets/);
  assert.match(lines({ sockets: ["/run/docker.sock"] }), /All local sockets/);
  assert.doesNotMatch(lines({ sockets: ["/run/docker.sock"], refuses_sockets: true }), /All local sockets/);
});
