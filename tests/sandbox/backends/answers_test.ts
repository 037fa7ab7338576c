// Backends of other programs that answer with anything: the host gets an error value, and no command runs.

import assert from "node:assert/strict";
import { success } from "../../../base/problem.ts";
import { type Backend, BackendRegistry, createSandbox, sandboxStatus } from "../../../sandbox/mod.ts";
import { settings, world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const SOUND: Backend = {
  available: () => success(undefined),
  wrap: (_policy, _config, inner) => success([...inner]),
  probe: () => Promise.resolve(success(undefined)),
};

const throws = () => {
  throw new Error("broken");
};

/** Malformed answers of functions that return an outcome. */
const NOT_OUTCOMES: readonly unknown[] = [
  undefined,
  null,
  true,
  "ok",
  7,
  [],
  {},
  { ok: "yes" },
  { ok: false },
  { ok: false, problem: "no" },
  { ok: false, problem: { code: "x" } },
];

const NOT_COMMANDS: readonly unknown[] = [undefined, null, "/bin/sh", [], [1], {}].map((value) => ({
  ok: true,
  value,
}));

const PREPARATION = { argv: ["a"], fingerprint: ["a"], setupFailure: () => null, dispose: () => {} };
const NOT_PREPARATIONS: readonly unknown[] = [
  ["a"],
  ...Object.keys(PREPARATION).map((name) => ({ ...PREPARATION, [name]: undefined })),
].map((value) => ({ ok: true, value }));

const ROWS: readonly (readonly [keyof Backend, readonly unknown[]])[] = [
  ["available", NOT_OUTCOMES],
  ["probe", NOT_OUTCOMES],
  ["wrap", [...NOT_OUTCOMES, ...NOT_COMMANDS]],
  ["prepare", [...NOT_OUTCOMES, ...NOT_PREPARATIONS]],
];

test("a backend that throws or gives a malformed answer is an error value, and no command runs without a sandbox: one row per function and answer", async (root) => {
  for (const [name, answers] of ROWS) {
    for (const answer of [throws, ...answers]) {
      const registry = new BackendRegistry();
      const given = answer === throws ? throws : () => answer;
      registry.register("odd", { ...SOUND, [name]: given });
      for (const backend of ["auto", "odd"]) {
        const sandbox = createSandbox({
          settings: settings({ backend }),
          environment: world(root),
          document: null,
          protect: [],
          registry,
        });
        const row = `${name} ${JSON.stringify(answer)} ${backend}`;
        const prepared = await sandbox.prepare(["/bin/true"]);
        assert.equal(prepared.ok, false, row);
        if (!prepared.ok) assert.match(prepared.problem.code, /^backend-(setup|failed)$/, row);
        await sandboxStatus(sandbox);
      }
    }
  }
});

test("status survives a backend that describes itself with anything", async (root) => {
  for (const answer of [throws, undefined, null, 7, {}, [7], "text"]) {
    const given = answer === throws ? throws : () => answer;
    const registry = new BackendRegistry();
    registry.register("odd", { ...SOUND, hardening: given as never, version: given as never });
    const sandbox = createSandbox({
      settings: settings({ backend: "odd" }),
      environment: world(root),
      document: null,
      protect: [],
      registry,
    });
    const status = await sandboxStatus(sandbox);
    assert.ok(JSON.stringify(status).length > 0);
  }
});

/** A sandbox whose backend prepares commands in this way. */
function preparing(root: string, members: Partial<Record<"setupFailure" | "dispose", () => unknown>>) {
  const registry = new BackendRegistry();
  const prepare: Backend["prepare"] = (_policy, _config, inner) =>
    Promise.resolve(success({
      argv: [...inner],
      fingerprint: [...inner],
      setupFailure: () => Promise.resolve(null),
      dispose: () => Promise.resolve(),
      ...members as object,
    }));
  registry.register("odd", { ...SOUND, prepare });
  return createSandbox({
    settings: settings({ backend: "odd" }),
    environment: world(root),
    document: null,
    protect: [],
    registry,
  });
}

test("a backend that cannot tell whether a command began has a failed set-up: one row per answer", async (root) => {
  const rejects = () => Promise.reject(new Error("broken"));
  for (const answer of [throws, rejects, undefined, 7, "no", {}, { code: "x" }]) {
    const setupFailure = typeof answer === "function" ? answer : () => answer;
    const prepared = await preparing(root, { setupFailure }).prepare(["/bin/true"]);
    assert.ok(prepared.ok);
    const problem = await prepared.value.setupFailure("", null);
    assert.equal(problem?.code, "sandbox-setup-failed");
    assert.match(
      problem?.message ?? "",
      /cannot tell whether the command began \(setupFailure: (?:broken|it must return)/,
    );
    await prepared.value.dispose();
  }
});

test("a backend that cannot clean up after a command leaves a notice, and the command's result stays", async (root) => {
  for (const dispose of [throws, () => Promise.reject(new Error("broken"))]) {
    const sandbox = preparing(root, { dispose });
    const prepared = await sandbox.prepare(["/bin/true"]);
    assert.ok(prepared.ok);
    await prepared.value.dispose();
    const notices = JSON.stringify(sandbox.notices());
    assert.match(notices, /did not clean up after a command \(dispose\): broken/);
  }
});
