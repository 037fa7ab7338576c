import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type SandboxSettings } from "../../../config/settings.generated.ts";
import type { RwPath } from "../../../config/values.ts";
import { reachesFurther } from "../../../sandbox/policy/reaches_further.ts";
import { stillHidden } from "../../../sandbox/policy/keep_hidden.ts";

const CONTEXT = {
  environment: { cwd: "/srv/project", home: "/home/ada", variables: {} },
  document: "/srv/project/notes.chat",
};
const PERSON = DEFAULT_SETTINGS.sandbox;

function policy(changes: Partial<SandboxSettings["policy"]>, base = PERSON): SandboxSettings {
  return { ...base, policy: { ...base.policy, ...changes } };
}

Deno.test("the report names each setting with which a document goes beyond the person's own sandbox", () => {
  const strict = policy({ network: false, rw_paths: ["urn:flemma:cwd"] });
  const unknown = policy({ rw_paths: ["urn:flemma:nothing"] });
  const cases: readonly (readonly [SandboxSettings, SandboxSettings, RegExp | null])[] = [
    [PERSON, PERSON, null],
    [PERSON, { ...PERSON, enabled: false }, /switches the sandbox off/],
    [PERSON, { ...PERSON, backend: "other" }, /backend other/],
    [PERSON, { ...PERSON, backend: "required" }, null],
    [{ ...PERSON, backend: "bwrap" }, { ...PERSON, backend: "required" }, /backend required/],
    [{ ...PERSON, backend: "required" }, PERSON, /backend auto/],
    [PERSON, policy({ allow_privileged: true }), /privileges/],
    [policy({ allow_privileged: true }), policy({ allow_privileged: true }), null],
    [policy({ allow_privileged: true }), policy({ allow_privileged: false }), null],
    [strict, policy({ network: true }, strict), /opens the network/],
    [strict, policy({ network: { allow: ["example.org"] } }, strict), /opens the network/],
    [policy({ network: { allow: ["a"] } }), policy({ network: { allow: ["a"] } }), null],
    [PERSON, policy({ network: false }), null],
    [strict, policy({ rw_paths: ["urn:flemma:cwd", "/srv/project/out"] }, strict), null],
    [strict, policy({ rw_paths: ["urn:flemma:cwd", "/srv/data"] }, strict), /makes \/srv\/data writable/],
    [strict, policy({ rw_paths: ["/"] }, strict), /makes \/ writable/],
    [strict, policy({ rw_paths: ["urn:flemma:nothing"] }, strict), /an invalid sandbox policy/],
    // What nobody can resolve is the person's own here.
    [unknown, { ...unknown, backend: "required" }, null],
    [unknown, policy({ rw_paths: ["urn:flemma:cwd"] }, unknown), /makes \/srv\/project writable/],
  ];
  for (const [person, document, expected] of cases) {
    const found = reachesFurther(person, document, CONTEXT);
    if (expected === null) assert.equal(found, null);
    else assert.match(found ?? "nothing", expected);
  }
});

Deno.test("if the person uses no sandbox, a document goes further only if it turns on a sandbox with wider access than the person's settings", () => {
  const off = { ...PERSON, enabled: false };
  assert.equal(reachesFurther(off, { ...off, backend: "other" }, CONTEXT), null);
  assert.equal(reachesFurther(off, { ...off, enabled: true }, CONTEXT), null);
  const on = { ...policy({ rw_paths: ["/"] }), enabled: true };
  assert.match(reachesFurther(off, on, CONTEXT) ?? "nothing", /makes \/ writable/);
});

Deno.test("a writable path of a document does not uncover what the person hides, even if the person made that path writable", () => {
  const hiding = policy({ rw_paths: ["urn:flemma:cwd"], deny_read: ["/srv/project/secrets"] });
  const asked = (item: RwPath, person = hiding) =>
    stillHidden(person, policy({ rw_paths: [...person.policy.rw_paths, item] }, person), CONTEXT);
  for (
    const path of ["/srv/project/secrets", "/srv/project/secrets/keys", "/srv/project/out/../secrets/keys"]
  ) {
    const { settings, uncovering } = asked(path);
    assert.deepEqual(uncovering, [path]);
    assert.deepEqual(settings.policy.rw_paths, ["urn:flemma:cwd"]);
  }
  assert.deepEqual(asked({ path: "/srv/project/secrets/new", create: true }).uncovering, [
    "/srv/project/secrets/new",
  ]);
  assert.deepEqual(asked("/srv/project/out").uncovering, []);
  const open = policy({ rw_paths: ["urn:flemma:cwd", "/srv/project/secrets/keys"] }, hiding);
  assert.deepEqual(asked("/srv/project/secrets/keys/deep", open).uncovering, []);
});

Deno.test("a document's writable paths stay unchanged unless one of them would uncover a path that the person hides: one row per condition", () => {
  const hiding = policy({ rw_paths: ["urn:flemma:cwd"], deny_read: ["/srv/project/secrets"] });
  const uncovers = "/srv/project/secrets/keys";
  const rows: readonly (readonly [string, SandboxSettings, RwPath])[] = [
    ["no sandbox", { ...hiding, enabled: false }, uncovers],
    ["nothing is hidden", policy({ deny_read: [] }, hiding), uncovers],
    ["the hidden paths are unknown", policy({ rw_paths: ["urn:flemma:nothing"] }, hiding), uncovers],
    ["it has no effect", hiding, "$UNSET"],
    ["it leads nowhere", hiding, "/srv/project/secrets\0"],
    ["it is seen", hiding, "/srv/project/out"],
  ];
  for (const [what, person, item] of rows) {
    const document = policy({ rw_paths: [...person.policy.rw_paths, item] }, person);
    const { settings, uncovering } = stillHidden(person, document, CONTEXT);
    assert.deepEqual(uncovering, [], what);
    assert.equal(settings, document, what);
  }
  const document = policy({ rw_paths: [uncovers] }, hiding);
  assert.deepEqual(stillHidden(hiding, document, CONTEXT).uncovering, [uncovers]);
});
