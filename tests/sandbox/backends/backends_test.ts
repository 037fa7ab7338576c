// Backends other than bubblewrap, and what bubblewrap tries when part of it is refused.

import assert from "node:assert/strict";
import { container } from "../../../sandbox/backends/container.ts";
import { createSandbox, renderStatus, sandboxStatus } from "../../../sandbox/mod.ts";
import { seatbeltArguments, seatbeltProfile } from "../../../sandbox/backends/seatbelt.ts";
import type { Host } from "../../../sandbox/types.ts";
import { plant, projectSandbox, runInside, runPrepared, script, settings, world } from "../fixture.ts";
import { inFolder, testInFolder as test } from "../../folder.ts";

const host = (isContainer: boolean): Host => ({
  environment: { cwd: "/", home: "/", variables: {} },
  root: false,
  container: isContainer,
  program: () => assert.fail("no program is needed"),
  notice: () => {},
});

const POLICY = { rw_paths: ["/w", "/tmp"], network: true, allow_privileged: false, protect: [] };

Deno.test("a container counts as the sandbox only if flemma runs inside one and the person trusts it", async () => {
  const codes = await Promise.all([
    container.available({}, host(true)),
    container.available({ trusted: "yes" }, host(true)),
    container.available({ trusted: true }, host(false)),
    container.available({ trusted: true }, host(true)),
  ]);
  assert.deepEqual(codes.map((answer) => answer.ok ? "available" : answer.problem.code), [
    "container-not-trusted",
    "container-not-trusted",
    "no-container",
    "available",
  ]);
});

test("a trusted container runs commands unchanged, and the status names the setting that trusts it", async (root) => {
  plant(root, "project/notes.chat");
  const sandbox = createSandbox({
    settings: settings({ backend: "container", backends: { container: { trusted: true } } }),
    environment: world(root, { container: "test" }, `${root}/project`),
    document: `${root}/project/notes.chat`,
    protect: [`${root}/project/notes.chat`],
  });
  assert.equal((await runPrepared(sandbox, ["/bin/sh", "-c", "echo here"])).out, "here\n");
  const prepared = await sandbox.prepare(["cmd"]);
  assert.deepEqual(prepared.ok && [prepared.value.argv, prepared.value.wrapped], [["cmd"], true]);
  assert.ok((await sandbox.available()).ok);
  assert.ok(!sandbox.isPathWritable("notes.chat"));
  assert.match(
    renderStatus(await sandboxStatus(sandbox)),
    /backend {3}container \(trusted by your settings\)/,
  );
});

Deno.test("the Seatbelt profile denies all writing, allows it in writable paths, and denies it again in protected paths inside them", () => {
  const { profile, parameters } = seatbeltProfile({ ...POLICY, protect: ["/w/a/b", "/elsewhere"] });
  assert.equal(
    profile,
    `(version 1)
(allow default)
(deny file-write*)
(allow file-write* (subpath (param "WRITE0")))
(allow file-write* (subpath (param "WRITE1")))
(allow file-write* (literal "/dev/null"))
(allow file-write* (literal "/dev/zero"))
(allow file-write* (literal "/dev/tty"))
(allow file-write* (literal "/dev/dtracehelper"))
(allow file-write* (subpath "/dev/fd"))
(deny file-write* (subpath (param "PROTECT2")))
(deny file-write-unlink (literal (param "HOLD3")))
(deny file-write-unlink (literal (param "HOLD4")))
`,
  );
  assert.deepEqual(parameters, {
    WRITE0: "/w",
    WRITE1: "/tmp",
    PROTECT2: "/w/a/b",
    HOLD3: "/w/a/b",
    HOLD4: "/w/a",
  });
});

Deno.test("the Seatbelt profile hides paths, masks sockets and blocks the network; a longer writable path inside a hidden path takes precedence", () => {
  const extras = {
    hidden: [{ path: "/h/.ssh", folder: true }, { path: "/h/.netrc", folder: false }, {
      path: "/h",
      folder: true,
    }],
    masked: ["/run/docker.sock"],
    runtime: ["/run/user/7"],
  };
  const { profile } = seatbeltProfile({ ...POLICY, rw_paths: ["/h/work"] }, extras);
  const lines = profile.split("\n");
  assert.ok(lines.includes('(deny file-read* file-write* (subpath (param "HIDE1")))'));
  assert.ok(lines.includes('(deny file-read* file-write* (literal (param "HIDE2")))'));
  const hidden = lines.indexOf('(deny file-read* file-write* (subpath (param "HIDE3")))');
  assert.equal(lines[hidden + 1], '(allow file-read* file-write* (subpath (param "WRITE4")))');
  assert.ok(
    profile.includes('(deny network-outbound (remote unix-socket (path-literal (param "SOCKET5"))))'),
  );
  assert.ok(profile.includes('(deny network-outbound (remote unix-socket (subpath (param "SOCKET6"))))'));
  const off = seatbeltProfile({ ...POLICY, network: false, network_allow: ["a.org"] }).profile;
  assert.match(off, /\(deny network\*\)\n$/);
});

Deno.test("the text of the Seatbelt profile contains no path", () => {
  const evil = '/w") (allow default) ("';
  const argv = seatbeltArguments({ ...POLICY, rw_paths: [evil] }, ["cmd", "-p", "x"]);
  assert.equal(argv[0], "/usr/bin/sandbox-exec");
  assert.ok(!argv[2]?.includes("evil") && !argv[2]?.includes('/w"'));
  assert.deepEqual(argv.slice(3), ["-D", `WRITE0=${evil}`, "cmd", "-p", "x"]);
});

Deno.test(
  "seatbelt is not available on Linux",
  { ignore: Deno.build.os !== "linux" },
  () =>
    inFolder(async (root) => {
      plant(root, "project/");
      const answer = await projectSandbox(root, { backend: "seatbelt" }).available();
      assert.match(answer.ok ? "" : answer.problem.message, /macOS only/);
    }),
);

/** A bwrap that refuses an option with words and otherwise is the real one. */
function refusing(root: string, option: string, words: string): string {
  plant(root, "system/");
  return script(
    `${root}/system/bwrap`,
    `for word; do case $word in ${option}) echo "${words}" >&2; exit 1;; esac; done`,
    `exec bwrap "$@"`,
  );
}

test("if a private /proc is refused, the sandbox is tested and used without it, and the status says so", async (root) => {
  plant(root, "project/");
  const path = refusing(root, "--proc", "bwrap: Can't mount proc on /newroot/proc: Operation not permitted");
  const sandbox = projectSandbox(root, { backends: { bwrap: { path } } });
  // Outside processes are seen, and neither signals nor their files are in reach.
  const outside = Deno.pid;
  const { out } = await runInside(
    sandbox,
    `[ -d /proc/${outside} ] && echo seen; kill -0 ${outside} 2>/dev/null || echo unreachable; ` +
      `ls /proc/${outside}/root/ >/dev/null 2>&1 || echo closed`,
  );
  assert.equal(out, "seen\nunreachable\nclosed\n");
  const status = await sandboxStatus(sandbox);
  assert.ok(status.available);
  assert.ok(status.hardening.some((sentence) => sentence.startsWith("A separate /proc was refused")));
});

test("if the system call filter is refused, the sandbox works without it, unless sockets must be blocked", async (root) => {
  plant(root, "project/");
  const path = refusing(root, "--seccomp", "bwrap: prctl(PR_SET_SECCOMP): Invalid argument");
  const plain = projectSandbox(root, { backends: { bwrap: { path } } });
  assert.match((await runInside(plain, "grep Seccomp: /proc/self/status")).out, /0\n$/);
  assert.ok((await sandboxStatus(plain)).hardening.some((sentence) => sentence.includes("not filtered")));
  const blocking = projectSandbox(root, {
    backends: { bwrap: { path } },
    policy: { block_unix_sockets: true },
  });
  assert.ok(!(await blocking.available()).ok);
});

test("after any other refusal, the sandbox is not tried again with less protection", async (root) => {
  plant(root, "project/");
  const path = refusing(root, "--unshare-user", "bwrap: No permissions to create a new namespace");
  const answer = await projectSandbox(root, { backends: { bwrap: { path } } }).available();
  assert.ok(!answer.ok && answer.problem.message.includes("user namespaces are not permitted"));
});
