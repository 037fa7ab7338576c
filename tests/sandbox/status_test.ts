// What `sandbox status` says.

import assert from "node:assert/strict";
import { renderStatus, sandboxStatus, statusExitCode } from "../../sandbox/mod.ts";
import { plant, projectSandbox, requireBubblewrap, script } from "./fixture.ts";
import { testInFolder as test } from "../folder.ts";

test("the status of a working sandbox names backend, version, paths with their entries, and protection", async (root) => {
  plant(root, "project/notes.chat", "project/.flemma/");
  const rw_paths = ["urn:flemma:cwd", "$NONE", `${root}/missing`];
  const sandbox = projectSandbox(root, { policy: { rw_paths, network: false } });
  await requireBubblewrap(sandbox);
  const status = await sandboxStatus(sandbox);
  assert.equal(statusExitCode(status), 0);
  assert.deepEqual(
    {
      ...status,
      version: typeof status.version,
      description: typeof status.description,
      hardening: 0,
      notices: 0,
      sockets: { ...status.sockets, masked: 0 },
      program: status.program.includes(Deno.realPathSync(Deno.execPath())),
    },
    {
      program: true,
      enabled: true,
      mode: "auto",
      commands: "confined",
      backend: "bwrap",
      description: "string",
      version: "string",
      available: true,
      error: null,
      network: "blocked",
      hosts: [],
      hidden: [{ path: `${root}/home/.local/state/flemma/sign-ins`, exists: false }],
      sockets: { masked: 0, kept: [], blocked: true },
      limits: {},
      kind: "exact",
      abi: null,
      notCovered: [],
      privileged: false,
      writable: [
        { path: `${root}/missing`, entry: `${root}/missing`, exists: false },
        { path: `${root}/project`, entry: "urn:flemma:cwd", exists: true },
      ],
      dropped: [{ entry: "$NONE", reason: "$NONE is not set" }],
      protected: [
        { path: `${root}/project/notes.chat`, exists: true },
        { path: `${root}/home/.config/flemma`, exists: false },
        { path: `${root}/home/.local/state/flemma`, exists: true },
        { path: `${root}/project/.flemma`, exists: true },
      ],
      hardening: 0,
      notices: 0,
    },
  );
  assert.match(status.version ?? "", /^\d+\./);
  const text = renderStatus(status);
  assert.match(text, /^sandbox {3}on and working\n/);
  assert.match(text, /project {2}from urn:flemma:cwd\n/);
  assert.match(text, /^privilege dropped$/m);
  const other = renderStatus({ ...status, privileged: true, protected: [] });
  assert.match(other, /^privilege kept \(allow_privileged\)$/m);
  assert.match(other, /^protected\n {2}nothing$/m);
  assert.doesNotMatch(text, /^protected\n {2}nothing$/m);
  assert.match(text, /ignored: \$NONE because/);
  assert.ok(text.includes(`\nprogram   protected too\n`) && text.includes(Deno.execPath()), text);
});

test("if an installed bwrap cannot work, the status fails and shows the cause", async (root) => {
  plant(root, "project/", "system/");
  const path = script(
    `${root}/system/bwrap`,
    "echo 'bwrap: setting up uid map: Permission denied' >&2",
    "exit 1",
  );
  const status = await sandboxStatus(projectSandbox(root, { backends: { bwrap: { path } } }));
  assert.equal(statusExitCode(status), 1);
  assert.equal(status.backend, null);
  assert.equal(status.available, false);
  assert.equal(status.commands, "unconfined");
  const text = renderStatus(status);
  assert.match(
    text,
    /not usable \(commands would run unsandboxed\): No sandbox works on this machine: bwrap: (?:AppArmor|users cannot be mapped)/,
  );
  assert.doesNotMatch(text, /macOS|trusted is not set/, "only what matters");
  assert.match(text, /^commands {2}run unsandboxed, .*\n.*only to flemma's own tools$/m);
  assert.doesNotMatch(text, /^(network|privilege|sockets|limits)/m, "nothing keeps these");
  assert.match(text, /^writable\n {2}.*project/m);
  const required = projectSandbox(root, { backend: "required", backends: { bwrap: { path } } });
  const refused = await sandboxStatus(required);
  assert.equal(refused.commands, "refused");
  assert.match(renderStatus(refused), /commands are refused(.*\n)*commands {2}do not run/);
});

test("if the sandbox is switched off, the status is normal", async (root) => {
  plant(root, "project/");
  const status = await sandboxStatus(projectSandbox(root, { enabled: false }));
  assert.equal(statusExitCode(status), 0);
  const text = renderStatus(status);
  assert.match(text, /^sandbox {3}off\n(.*\n)*commands {2}run unsandboxed.*\n {2}the rest applies only/);
  assert.doesNotMatch(text, /^(network|privilege|writable|hidden|sockets|limits)/m, "nothing keeps these");
});

test("the status shows an invalid policy as an error", async (root) => {
  plant(root, "project/");
  const status = await sandboxStatus(projectSandbox(root, { policy: { rw_paths: ["urn:flemma:nope"] } }));
  assert.equal(statusExitCode(status), 1);
  assert.equal(status.error?.code, "unknown-urn");
  assert.deepEqual(status.writable, []);
});

test("the status shows the network list, hidden paths, masked and kept sockets, and the limits", async (root) => {
  plant(root, "project/", "secret", "run/", "tmp/tmux-1/");
  const tmux = Deno.listen({ transport: "unix", path: `${root}/tmp/tmux-1/default` });
  const bus = Deno.listen({ transport: "unix", path: `${root}/run/bus` });
  try {
    const sandbox = projectSandbox(root, {
      policy: {
        network: { allow: ["example.org"] },
        deny_read: [`${root}/secret`, `${root}/missing`],
        sockets: ["session-bus"],
        limits: { processes: 9 },
      },
    }, { variables: { XDG_RUNTIME_DIR: `${root}/run`, TMPDIR: `${root}/tmp` } });
    const status = await sandboxStatus(sandbox);
    assert.deepEqual([status.network, status.hosts], ["list", ["example.org"]]);
    assert.deepEqual(status.hidden, [
      { path: `${root}/home/.local/state/flemma/sign-ins`, exists: false },
      { path: `${root}/missing`, exists: false },
      { path: `${root}/secret`, exists: true },
    ]);
    const ours = (paths: readonly string[]) => paths.filter((path) => path.startsWith(root));
    assert.deepEqual(ours(status.sockets.masked), [`${root}/run`, `${root}/tmp/tmux-1`]);
    assert.deepEqual(status.sockets.kept, [`${root}/run/bus`]);
    assert.deepEqual(status.limits, { processes: 9 });
    const text = renderStatus(status);
    const lines = [
      /^network {3}list: example\.org$/m,
      /^hidden\n {2}.*\/secret$/m,
      /tmux-1 {2}masked$/m,
      /run\/bus {2}kept$/m,
      /^limits {4}processes 9$/m,
      /^hardening /m,
    ];
    for (const line of lines) assert.match(text, line);
  } finally {
    tmux.close();
    bus.close();
  }
});
