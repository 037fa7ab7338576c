// Policies: the result of each form of an entry, the source of each path, and messages about dropped entries.

import assert from "node:assert/strict";
import type { SandboxSettings } from "../../../config/settings.generated.ts";
import { expandPath, type ResolvedPolicy, resolvePolicy } from "../../../sandbox/mod.ts";
import { plant, settings, world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const ENVIRONMENT = {
  cwd: "/work",
  home: "/home/me",
  variables: { FULL: "/full", EMPTY: "", REL: "rel", TILDE: "~/x" },
};

Deno.test("every form of a path entry is expanded to at most one path", () => {
  const path = (entry: string) => {
    const expansion = expandPath(entry, { environment: ENVIRONMENT, document: "/docs/a.chat" });
    return expansion.kind === "path" ? expansion.path : expansion.kind;
  };
  const forms: Record<string, string> = {
    "urn:flemma:cwd": "/work",
    "urn:flemma:buffer:path": "/docs",
    "urn:flemma:cwd/sub": "unknown-urn",
    "urn:other": "unknown-urn",
    "$FULL": "/full",
    "$TILDE": "~/x",
    "$NONE": "dropped",
    "$EMPTY": "dropped",
    "${FULL:-/other}": "/full",
    "${NONE:-/other}": "/other",
    "${EMPTY:-~/cache}": "/home/me/cache",
    "${NONE:-$FULL}": "$FULL",
    "${NONE:-~bob}": "dropped",
    "${NONE:-}": "${NONE:-}",
    "${FULL}": "${FULL}",
    "$FULL/x": "$FULL/x",
    "~": "/home/me",
    "~/a b": "/home/me/a b",
    "~bob/x": "dropped",
    "": "dropped",
    "plain": "plain",
    "a~b": "a~b",
  };
  for (const [entry, expected] of Object.entries(forms)) assert.equal(path(entry), expected, entry);
});

function resolve(
  folder: string,
  rw_paths: SandboxSettings["policy"]["rw_paths"],
  cwd = folder,
): ResolvedPolicy {
  const environment = world(folder, {}, cwd);
  const policy = resolvePolicy(settings({ policy: { rw_paths } }), { environment, document: null });
  assert.ok(policy.ok);
  return policy.value;
}

test("each path is stored with its entry, and every ignored entry with its reason", (root) => {
  plant(root, "p/sub/", "loop -> loop");
  const entries = ["urn:flemma:cwd", "sub", "$NONE", "urn:flemma:buffer:path", `${root}/loop`];
  const policy = resolve(root, entries, `${root}/p`);
  assert.deepEqual(policy.writable.map(({ path, entry, byDefault }) => [path, entry, byDefault]), [
    [`${root}/p`, "urn:flemma:cwd", true],
  ]);
  assert.deepEqual(policy.dropped.map(({ entry }) => entry), [
    "$NONE",
    "urn:flemma:buffer:path",
    `${root}/loop`,
    "sub",
  ]);
  assert.match(policy.dropped[0]?.reason ?? "", /not set/);
  assert.match(policy.dropped[1]?.reason ?? "", /not saved/);
  assert.match(policy.dropped[2]?.reason ?? "", /too many symbolic links/);
  assert.match(policy.dropped[3]?.reason ?? "", /urn:flemma:cwd already covers/);
});

test("an ignored entry is reported only if it is invalid on every machine", (root) => {
  plant(root, "p/", "loop -> loop");
  assert.deepEqual(resolve(root, ["$NONE", `${root}/p`]).notices, []);
  const { notices } = resolve(root, ["~bob/x", "", "loop"]);
  assert.deepEqual(notices.map(({ code }) => code), Array(3).fill("writable-path-dropped"));
});

test("a path that contains the home folder is accepted, with a notice", (root) => {
  plant(root, "home/x/");
  const reported = (entry: string) => resolve(root, [entry]).notices.map(({ message }) => message);
  const makes = (entry: string, what: string) => [
    `The entry "${entry}" makes ${what} writable inside the sandbox.`,
  ];
  assert.deepEqual(reported("/"), makes("/", "the whole file system"));
  assert.deepEqual(reported("~"), makes("~", "your whole home folder"));
  assert.deepEqual(reported(root), makes(root, `${root}, which contains your home folder,`));
  assert.deepEqual(reported("~/x"), []);
  assert.deepEqual(resolve(root, ["/"]).rw_paths, ["/"]);
});

test("paths are sorted by bytes, not by UTF-16 units", (root) => {
  const names = ["\u{1F600}", "\uFF5E", "z", "é"];
  const { rw_paths } = resolve(root, names.map((name) => `${root}/${name}`));
  assert.deepEqual(rw_paths.map((path) => path.slice(root.length + 1)), ["z", "é", "\uFF5E", "\u{1F600}"]);
});

test("an unknown URN in a policy makes the whole policy invalid, and the error contains the URN", (root) => {
  const policy = resolvePolicy(settings({ policy: { rw_paths: [root, "urn:flemma:nope"] } }), {
    environment: world(root),
    document: null,
  });
  assert.ok(!policy.ok);
  assert.equal(policy.problem.code, "unknown-urn");
  assert.match(policy.problem.message, /urn:flemma:nope/);
});

Deno.test("an invalid limit is ignored: one row per condition", () => {
  const limited = (limits: Readonly<Record<string, number>>) => {
    const policy = resolvePolicy(settings({ policy: { limits } }), {
      environment: ENVIRONMENT,
      document: null,
    });
    return policy.ok ? policy.value.limits : policy.problem.message;
  };
  assert.deepEqual(limited({ processes: 1, memory: 2 ** 30 }), { processes: 1, memory: 2 ** 30 });
  for (const value of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
    assert.equal(
      limited({ open_files: value }),
      "sandbox.policy.limits.open_files must be a whole number above 0.",
      String(value),
    );
  }
  assert.equal(limited({ open_fies: 10 }), 'sandbox.policy.limits has no member "open_fies".');
});

Deno.test("unix sockets are refused to commands only if the settings request it", () => {
  for (const [stated, expected] of [[undefined, false], [false, false], [true, true]] as const) {
    const policy = resolvePolicy(settings({ policy: { block_unix_sockets: stated } }), {
      environment: ENVIRONMENT,
      document: null,
    });
    assert.equal(policy.ok && policy.value.block_unix_sockets, expected);
  }
});

test("if the home folder does not exist, it is not inside any writable path", (root) => {
  plant(root, "p/", "loop -> loop");
  const environment = { ...world(root, {}, `${root}/p`), home: `${root}/loop` };
  const policy = resolvePolicy(settings({ policy: { rw_paths: [root] } }), { environment, document: null });
  assert.ok(policy.ok);
  assert.deepEqual([policy.value.rw_paths, policy.value.notices], [[root], []]);
});

test("a folder is created only for an entry that requests it, and a path covered by another path is stored", (root) => {
  plant(root, "p/");
  const { create, covered, rw_paths } = resolve(root, [
    "p",
    { path: "p/in", create: false },
    { path: "q/new", create: true },
    { path: "r" },
    "p/in/deep",
  ]);
  assert.deepEqual(rw_paths, [`${root}/p`, `${root}/q/new`, `${root}/r`]);
  assert.deepEqual(create, [`${root}/q/new`]);
  assert.deepEqual([...covered].sort(), [`${root}/p/in`, `${root}/p/in/deep`]);
});
