// What a sandbox answers about paths, variables and sockets without running anything: one row per condition.

import assert from "node:assert/strict";
import { isVisible, resolvePolicy } from "../../sandbox/policy/policy.ts";
import { stillHidden } from "../../sandbox/policy/keep_hidden.ts";
import { isReplaced, socketVariablesOf } from "../../sandbox/policy/sockets.ts";
import { records } from "../../sandbox/process/leftovers.ts";
import { strayLink } from "../../sandbox/paths/stray_link.ts";
import { plant, projectSandbox, settings, world } from "./fixture.ts";
import { testInFolder as test } from "../folder.ts";

test("without a sandbox, every unprotected path may be written; with a sandbox, the real path must also be writable and not hidden", (root) => {
  plant(
    root,
    "project/notes.chat",
    "project/secret/x",
    "project/.git/hooks/",
    "outside/",
    "project/out -> ../outside",
  );
  const policy = { rw_paths: ["urn:flemma:cwd"], deny_read: [`${root}/project/secret`] };
  const on = projectSandbox(root, { policy });
  const off = projectSandbox(root, { enabled: false, policy });
  const invalid = projectSandbox(root, { policy: { rw_paths: ["urn:nope"] } });
  const rows: readonly (readonly [string, boolean, boolean])[] = [
    ["new.txt", true, true],
    ["notes.chat", false, false],
    [".git/hooks/post-commit", false, false],
    ["secret/x", false, true],
    ["secret", false, true],
    ["out/x", false, true],
    [`${root}/outside/x`, false, true],
    ["a\0b", false, false],
  ];
  for (const [path, confined, bare] of rows) {
    assert.equal(on.isPathWritable(path), confined, path);
    assert.equal(off.isPathWritable(path), bare, `${path} without a sandbox`);
    assert.equal(invalid.isPathWritable(path), false, `${path} under a policy that does not hold`);
  }
});

test("without a sandbox, every path may be read except the system's and hidden ones; with a sandbox, replaced paths are excluded too", (root) => {
  plant(root, "project/a", "project/secret/x", "run/bus", "run/keep/s", "project/link -> /proc/self/environ");
  const policy = {
    rw_paths: ["urn:flemma:cwd"],
    deny_read: [`${root}/project/secret`],
    sockets: [`${root}/run/keep`],
  };
  const variables = { XDG_RUNTIME_DIR: `${root}/run` };
  const on = projectSandbox(root, { policy }, { variables });
  const off = projectSandbox(root, { enabled: false, policy }, { variables });
  const invalid = projectSandbox(root, { policy: { rw_paths: ["urn:nope"] } }, { variables });
  const rows: readonly (readonly [string, boolean, boolean])[] = [
    ["a", true, true],
    ["/etc/passwd", true, true],
    ["secret/x", false, true],
    [`${root}/run/bus`, false, true],
    [`${root}/run/keep/s`, true, true],
    ["/proc/self/environ", false, false],
    ["link", false, false],
    ["a\0b", false, false],
  ];
  for (const [path, confined, bare] of rows) {
    assert.equal(on.isPathReadable(path), confined, path);
    assert.equal(off.isPathReadable(path), bare, `${path} without a sandbox`);
    assert.equal(invalid.isPathReadable(path), false, `${path} under a policy that does not hold`);
  }
});

test("a link is reported as leading out only if a command could have created it and its target is outside", (root) => {
  plant(
    root,
    "outside/",
    "project/in/",
    "project/leads-out -> ../outside",
    "project/leads-in -> in",
    "home/link -> ../outside",
  );
  const on = projectSandbox(root);
  const off = projectSandbox(root, { enabled: false });
  const invalid = projectSandbox(root, { policy: { rw_paths: ["urn:nope"] } });
  const rows: readonly (readonly [string, string | null])[] = [
    ["leads-out/x", `${root}/project/leads-out`],
    ["leads-in/x", null],
    ["in/x", null],
    ["~/link/x", null],
    ["a\0b", null],
  ];
  for (const [path, link] of rows) {
    assert.equal(on.strayLink(path), link, path);
    assert.equal(off.strayLink(path), null, path);
    assert.equal(invalid.strayLink(path), null, path);
  }
  const trace = { path: "/out", links: [{ path: "/w", target: "/x" }, { path: "/w/l", target: "/out" }] };
  assert.equal(strayLink(trace, ["/w"]), "/w/l", "the writable path itself is in the hands of no command");
  assert.equal(strayLink({ ...trace, path: "/v/x" }, ["/w", "/v"]), null);
});

Deno.test("the longest entry that contains a path decides whether the path is hidden; if two entries are equally long, hiding wins", () => {
  const policy = { deny_read: ["/h", "/w/h"], rw_paths: ["/w", "/h/w"], covered: ["/h/w/c"] };
  const rows: readonly (readonly [string, boolean])[] = [
    ["/x", true],
    ["/h", false],
    ["/h/x", false],
    ["/hh", true],
    ["/h/w/x", true],
    ["/h/w", true],
    ["/w/x", true],
    ["/w/h/x", false],
  ];
  for (const [path, visible] of rows) assert.equal(isVisible(path, policy), visible, path);
  assert.equal(isVisible("/a/x", { deny_read: ["/a"], rw_paths: ["/a"], covered: [] }), false);
  assert.equal(isVisible("/a/b/x", { deny_read: ["/a/b"], rw_paths: ["/a"], covered: ["/a/b/x"] }), true);
});

test("a document cannot uncover what the person hides: one row per condition", (root) => {
  plant(root, "hidden/open/", "hidden/shut/", "other/");
  const context = { environment: world(root), document: null };
  const hiding = (rw_paths: string[], changes: Parameters<typeof settings>[0] = {}) =>
    settings({ ...changes, policy: { rw_paths, deny_read: [`${root}/hidden`], ...changes.policy } });
  const person = hiding([`${root}/hidden/open`]);
  const entries = [`${root}/hidden/shut`, `${root}/hidden/open`, `${root}/other`, "$UNSET"];
  const document = hiding([...entries], {});
  const kept = stillHidden(person, document, context);
  assert.deepEqual(kept.uncovering, [`${root}/hidden/shut`]);
  assert.deepEqual(kept.settings.policy.rw_paths, entries.slice(1));
  const object = hiding([]);
  const written = {
    ...object,
    policy: { ...object.policy, rw_paths: [{ path: entries[0]!, create: true }] },
  };
  assert.deepEqual(stillHidden(person, written, context).uncovering, [entries[0]]);
  const same = [
    stillHidden(hiding([], { enabled: false }), document, context),
    stillHidden(hiding([], { policy: { deny_read: [] } }), document, context),
    stillHidden(hiding(["urn:nope"]), document, context),
    stillHidden(person, hiding([`${root}/other`]), context),
  ];
  const counts = same.map(({ uncovering }) => uncovering.length);
  assert.deepEqual(counts, [0, 0, 0, 0]);
  assert.ok(same.slice(0, 3).every((each) => each.settings === document), "untouched");
});

test("a replaced runtime folder hides its content, except for entries that the policy names", (root) => {
  plant(root, "run/bus", "run/keep/s", "file");
  const environment = world(root, { XDG_RUNTIME_DIR: `${root}/run` });
  const policy = { sockets: [`${root}/run/keep`] };
  const rows: readonly (readonly [string, boolean])[] = [
    [`${root}/run/bus`, true],
    [`${root}/run`, true],
    [`${root}/run/keep/s`, false],
    [`${root}/running`, false],
    [`${root}/file`, false],
  ];
  for (const [path, replaced] of rows) assert.equal(isReplaced(path, environment, policy), replaced, path);
  const file = world(root, { XDG_RUNTIME_DIR: `${root}/file` });
  assert.equal(isReplaced(`${root}/file`, file, policy), false, "a file is not a folder of sockets");
});

test("a socket variable is kept if its group is allowed, or if its value names exactly a listed socket, in any supported form", (root) => {
  plant(root, "s/agent", "link -> s/agent");
  const rows: readonly (readonly [string, boolean])[] = [
    [`${root}/s/agent`, true],
    [`${root}/link`, true],
    [`unix:path=${root}/s/agent,guid=1`, true],
    [`unix://${root}/s/agent`, true],
    [`ssh-agent:${root}/s/agent`, true],
    [`tcp://h:1;${root}/s/agent`, true],
    [`${root}/other`, false],
    [`s/agent`, false],
    [`${root}/s/agent\0`, false],
    ["", false],
  ];
  for (const [value, kept] of rows) {
    const environment = world(root, { SSH_AUTH_SOCK: value });
    const policy = { sockets: [`${root}/s`], socketGroups: [] };
    assert.equal(socketVariablesOf(environment, policy).includes("SSH_AUTH_SOCK"), kept, value);
    assert.equal(
      socketVariablesOf(environment, { sockets: [], socketGroups: ["ssh"] }).includes("SSH_AUTH_SOCK"),
      true,
    );
  }
});

test("a broad writable path is reported together with the sensitive folders that it contains: one row per kind", (root) => {
  const environment = world(root);
  const reported = (path: string) => {
    const policy = resolvePolicy(settings({ policy: { rw_paths: [path] } }), {
      environment,
      document: null,
    });
    assert.ok(policy.ok);
    return policy.value.notices.map(({ message }) => message);
  };
  assert.match(reported("/").join(), /the whole file system/);
  assert.match(reported("~").join(), /your whole home folder/);
  assert.match(reported(root).join(), /contains your home folder/);
  assert.deepEqual(reported(`${root}/home/project`), []);
  assert.deepEqual(reported(`${root}/homework`), []);
});

test("without a policy, no path is protected, and the status reports neither sockets nor hardening", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:nope"], sockets: ["ssh"] } });
  assert.deepEqual(sandbox.socketVariables(), []);
  assert.deepEqual(sandbox.sockets(), { runtime: [], masked: [], kept: [] });
  const working = projectSandbox(root, { policy: { sockets: ["ssh"] } });
  assert.deepEqual(working.socketVariables(), ["SSH_AUTH_SOCK"]);
  const entry = await working.backend();
  assert.ok(entry.ok);
  assert.deepEqual(sandbox.hardeningOf(entry.value), []);
  assert.notDeepEqual(working.hardeningOf(entry.value), []);
  assert.deepEqual(projectSandbox(root, { enabled: false }).addedVariables(), {});
});

test("an ignored entry is reported only if it would restrict commands, or if it is invalid on every machine", (root) => {
  const context = { environment: world(root), document: null };
  const reported = (policy: Parameters<typeof settings>[0] & object) => {
    const resolved = resolvePolicy(settings(policy), context);
    assert.ok(resolved.ok, JSON.stringify(policy));
    return resolved.value.notices.map(({ code }) => code);
  };
  const rows: readonly (readonly [Record<string, unknown>, string[]])[] = [
    [{ rw_paths: ["$UNSET"] }, []],
    [{ rw_paths: ["~else"] }, ["writable-path-dropped"]],
    [{ rw_paths: [""] }, ["writable-path-dropped"]],
    [{ deny_read: ["$UNSET"] }, ["policy-path-dropped"]],
    [{ deny_read: ["~else"] }, ["policy-path-dropped"]],
    [{ deny_read: ["$secrets"] }, []],
    [{ protect: ["$UNSET"] }, ["policy-path-dropped"]],
    [{ protect: ["$git"] }, []],
    [{ sockets: ["$UNSET"] }, []],
    [{ sockets: ["~else"] }, ["policy-path-dropped"]],
    [{ sockets: ["ssh"] }, []],
  ];
  for (const [changes, expected] of rows) {
    assert.deepEqual(reported({ policy: { rw_paths: [], ...changes } }), expected, JSON.stringify(changes));
  }
  const failed = (changes: Record<string, unknown>) => {
    const resolved = resolvePolicy(settings({ policy: { rw_paths: [], ...changes } }), context);
    return resolved.ok ? "fine" : resolved.problem.code;
  };
  const refused: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ deny_read: ["urn:nope"] }, "unknown-urn"],
    [{ sockets: ["urn:nope"] }, "unknown-urn"],
    [{ protect: ["urn:nope"] }, "unknown-urn"],
    [{ protect: ["$gti"] }, "unknown-protect-word"],
    [{ protect: ["$GTI"] }, "fine"],
    [{ network: { allow: ["a b"] } }, "bad-host-rule"],
    [{ limits: { memroy: 1 } }, "bad-limit"],
    [{ limits: { memory: 0 } }, "bad-limit"],
    [{ limits: { memory: 1.5 } }, "bad-limit"],
    [{ limits: { memory: 1 } }, "fine"],
  ];
  for (const [changes, code] of refused) assert.equal(failed(changes), code, JSON.stringify(changes));
});

test("a writable path inside another one is merged into it and reported, and remains visible if the outer one is hidden", (root) => {
  const resolved = resolvePolicy(
    settings({
      policy: { rw_paths: [`${root}/a`, `${root}/a/b`, `${root}/a/b`, `${root}/c`, `${root}/ab`] },
    }),
    { environment: world(root), document: null },
  );
  assert.ok(resolved.ok);
  assert.deepEqual(resolved.value.rw_paths, [`${root}/a`, `${root}/ab`, `${root}/c`]);
  assert.deepEqual(resolved.value.covered, [`${root}/a/b`]);
  assert.deepEqual(resolved.value.dropped.map(({ reason }) => reason), [
    `${root}/a already covers ${root}/a/b`,
    `${root}/a already covers ${root}/a/b`,
  ]);
});

test("an empty argument list is not a command, with the sandbox on or off", async (root) => {
  plant(root, "project/");
  for (const enabled of [true, false]) {
    const prepared = await projectSandbox(root, { enabled }).prepare([]);
    assert.equal(prepared.ok ? "" : prepared.problem.code, "empty-command");
  }
});

test("disposing of a command removes its record, with or without the sandbox, whether flemma or a host started it", async (root) => {
  plant(root, "project/");
  for (const enabled of [true, false]) {
    const sandbox = projectSandbox(root, { enabled });
    const { environment } = sandbox.host;
    for (const way of ["start", "handOut", "neither"] as const) {
      const prepared = await sandbox.prepare(["/bin/sh", "-c", ":"]);
      assert.ok(prepared.ok);
      if (way === "handOut") assert.ok(prepared.value.handOut().ok);
      if (way === "start") {
        const running = prepared.value.start({ cwd: environment.cwd, env: {} });
        assert.ok(running.ok);
        await Promise.all([
          running.value.stdout.cancel(),
          running.value.stderr.cancel(),
          running.value.status,
        ]);
      }
      const written = way === "start" || (way === "handOut" && enabled);
      assert.equal(records(environment).length, written ? 1 : 0, `${way} ${enabled}`);
      await prepared.value.dispose();
      await prepared.value.dispose();
      assert.equal(records(environment).length, 0, `${way} ${enabled}`);
      assert.equal(sandbox.activeCommands, 0);
    }
  }
});
