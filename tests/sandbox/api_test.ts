// The sandbox as other programs use it.

import assert from "node:assert/strict";
import { failure, success } from "../../base/problem.ts";
import { BackendRegistry, createSandboxApi } from "../../sandbox/mod.ts";
import { plant, settings, world } from "./fixture.ts";
import { testInFolder as test } from "../folder.ts";

interface Doc {
  path: string | null;
  rw?: string[];
}

function apiFor(root: string, backend = "auto", enabled = true) {
  return createSandboxApi<Doc>({
    settings: (doc) =>
      settings({ enabled, backend, policy: { rw_paths: doc?.rw ?? ["urn:flemma:buffer:path"] } }),
    path: (doc) => doc.path,
    environment: world(root),
    registry: new BackendRegistry(),
  });
}

const naming = (name: string, works = true) => ({
  available: () => works ? success(undefined) : failure("broken", `${name} is broken.`),
  wrap: (_policy: unknown, _config: unknown, inner: readonly string[]) => success([name, ...inner]),
  probe: () => Promise.resolve(success(undefined)),
});

test("the policy belongs to the document, and expanding an unknown URN throws an error", (root) => {
  plant(root, "project/a.chat", "other/");
  const api = apiFor(root);
  const doc = { path: `${root}/project/a.chat` };
  assert.deepEqual(api.getPolicy(doc).rw_paths, [`${root}/project`]);
  assert.deepEqual(api.getPolicy(null).rw_paths, []);
  assert.throws(() => api.getPolicy({ path: null, rw: ["urn:flemma:nope"] }), /urn:flemma:nope/);
  assert.ok(api.isPathWritable(`${root}/project/x`, doc) && !api.isPathWritable(`${root}/other/x`, doc));
  assert.ok(api.isPathReadable("/etc/passwd", doc));
});

test("a working backend wraps a command; without a working backend the command stays unchanged", async (root) => {
  const api = apiFor(root);
  const argv = async () => {
    const wrapped = await api.wrapCommand(["cmd"], null);
    return wrapped.ok ? wrapped.argv : wrapped.error;
  };
  assert.deepEqual(await argv(), ["cmd"]);
  api.register("works", naming("works"));
  api.register("broken", { ...naming("broken", false), priority: 90 });
  assert.deepEqual(await argv(), ["works", "cmd"]);
  assert.deepEqual(await api.detectAvailableBackend(), { name: "works", diagnostic: null });
  assert.deepEqual(api.getAll().map(({ name }) => name), ["broken", "works"]);
  api.unregister("works");
  const { name, diagnostic } = await api.detectAvailableBackend();
  assert.equal(name, null);
  assert.match(diagnostic ?? "", /broken is broken/);
  api.clear();
  assert.equal(api.count(), 0);
  api.setup();
  assert.ok(api.has("bwrap") && api.get("container") !== null);
});

test("validation checks the configured backend, and succeeds if the sandbox is switched off", async (root) => {
  const required = apiFor(root, "required");
  const answer = await required.validateBackend();
  assert.match(answer.ok ? "" : answer.error, /No sandbox works on this machine/);
  assert.deepEqual(await apiFor(root, "required", false).validateBackend(), { ok: true });
  const refused = await required.wrapCommand(["cmd"], null);
  assert.ok(!refused.ok);
});

test("the session switch overrides the settings until it is reset", async (root) => {
  const api = apiFor(root, "required", false);
  assert.equal(api.getOverride(), null);
  assert.ok(!api.isEnabled());
  api.setEnabled(true);
  assert.ok(api.isEnabled() && api.resolveConfig().enabled && api.getOverride() === true);
  assert.ok(!(await api.wrapCommand(["cmd"], null)).ok);
  api.resetEnabled();
  assert.ok((await api.wrapCommand(["cmd"], null)).ok && !api.isEnabled());
});

test("the plugin's names refer to the same functions as flemma's, and each function works without its object", (root) => {
  const api = apiFor(root);
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const members = new Map<string, unknown>(Object.entries(api));
  const aliases = [...members.keys()].filter((name) => name.includes("_"));
  assert.equal(aliases.length, 12);
  for (const name of aliases) assert.equal(members.get(name), members.get(camel(name)), name);
  const { is_enabled, getAll } = api;
  assert.ok(is_enabled() && getAll().length === 0);
});
