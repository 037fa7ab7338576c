// The effects of another person's settings in plain words; and settings that are too large.

import assert from "node:assert/strict";
import { describeOperation } from "../../config/layers/words.ts";
import { draftLayer } from "../../config/layers/draft.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { readText } from "../../config/sources/json_file.ts";
import type { SettingOperation } from "../../config/types.ts";
import { testInWorld as test } from "./world.ts";

function stated(op: SettingOperation["op"], key: string, value: unknown): string {
  const words = describeOperation({ op, path: key.split("."), value } as SettingOperation);
  assert.ok(words.endsWith(` (${key})`), words);
  return words.slice(0, -` (${key})`.length);
}

Deno.test("each operation on a setting is described by its effect, and the opposite operation by the opposite words", () => {
  const rows: readonly (readonly [SettingOperation["op"], string, unknown, string])[] = [
    ["set", "sandbox.enabled", true, "switches the sandbox on"],
    ["set", "sandbox.enabled", false, "switches the sandbox off"],
    ["set", "sandbox.policy.network", true, "opens the network to commands"],
    ["set", "sandbox.policy.network", false, "closes the network to commands"],
    [
      "set",
      "sandbox.policy.network",
      { allow: ["a.org", "b.org"] },
      "lets commands reach only these hosts: a.org, b.org",
    ],
    ["set", "sandbox.policy.network", { allow: [] }, "lets commands reach only these hosts: none"],
    ["set", "sandbox.policy.allow_privileged", true, "keeps privileges in the sandbox"],
    ["set", "sandbox.policy.allow_privileged", false, "drops privileges in the sandbox"],
    ["set", "sandbox.policy.rw_paths", [], "makes only these paths writable: none"],
    [
      "set",
      "sandbox.policy.rw_paths",
      ["/a", { path: "/b", create: true }, { path: "/c" }],
      "makes only these paths writable: /a, /b (created if missing), /c",
    ],
    ["append", "sandbox.policy.rw_paths", "/a", "makes /a writable"],
    ["remove", "sandbox.policy.rw_paths", "/a", "makes /a read-only"],
    ["append", "sandbox.policy.deny_read", "/a", "hides /a"],
    ["prepend", "sandbox.policy.protect", "/a", "keeps /a read-only"],
    ["remove", "sandbox.policy.deny_read", "/a", "removes /a from deny_read"],
    ["set", "tools.auto_approve", null, "lets no call run without asking"],
    ["set", "tools.auto_approve", [], "lets these calls run without asking: none"],
    ["set", "tools.auto_approve", ["bash", "ls"], "lets these calls run without asking: bash, ls"],
    ["set", "tools.auto_approve", ["/x.ts"], "lets code decide what runs without asking: /x.ts"],
    [
      "set",
      "tools.auto_approve",
      ["bash", "/x.ts"],
      "lets these calls run without asking: bash; lets code decide what runs without asking: /x.ts",
    ],
    [
      "set",
      "tools.auto_approve",
      () => true,
      "uses its own function to decide which calls run without asking",
    ],
    ["append", "tools.rules", { deny: "bash", command: "rm **" }, "adds the rule: deny bash(rm **)"],
    [
      "set",
      "tools.rules",
      [{ approve: "bash", command: ["make test", "ls"] }, { ask: ["write", "edit"], path: "*.json" }],
      "has the rules: approve bash(make test, ls); ask write, edit(*.json)",
    ],
    ["set", "tools.rules", [], "has the rules: none"],
    ["append", "tools.auto_approve", "bash", "lets these calls run without asking: bash"],
    ["remove", "tools.auto_approve", "bash", "asks about bash"],
    ["set", "tools.require_approval", false, "lets calls that no rule matches run without asking"],
    ["set", "tools.require_approval", true, "asks about calls"],
    ["set", "tools.auto_approve_sandboxed", true, "lets sandboxed commands run without asking"],
    ["set", "tools.auto_approve_sandboxed", false, "asks about sandboxed commands too"],
    ["set", "tools.max_concurrent", 3, "sets max_concurrent to 3"],
    ["append", "tools.env.pass", "A", "adds A to pass"],
    ["set", "presets.$x", { approve: ["bash"] }, "defines the preset $x: lets bash run without asking"],
    ["set", "presets.$x", { deny: ["bash", "ls"] }, "defines the preset $x: denies bash, ls"],
    ["set", "presets.$x", { model: "m" }, "defines the preset $x: sets model"],
    ["set", "presets.$x", {}, "defines the preset $x: nothing"],
    [
      "set",
      "presets.$x",
      { approve: ["a"], deny: ["b"], model: "m", provider: "p" },
      "defines the preset $x: lets a run without asking; denies b; sets model, provider",
    ],
  ];
  for (const [op, key, value, expected] of rows) assert.equal(stated(op, key, value), expected);
});

Deno.test("a list, a string and the number of operations may reach their limits but not exceed them", () => {
  const fresh = () => draftLayer({ layer: "G", others: [], catalog: BUILTIN_CATALOG });
  const key = ["tools", "auto_approve"];
  const rows: readonly (readonly [unknown, RegExp | null])[] = [
    [Array(1000).fill("a"), null],
    [Array(1001).fill("a"), /more than 1000 items/],
    [["x".repeat(4096)], null],
    [["x".repeat(4097)], /a string of more than 4096 characters/],
    [["a", "x".repeat(4097)], /a string of more than 4096 characters/],
  ];
  for (const [value, expected] of rows) {
    const [fault, ...more] = fresh().apply("set", key, value);
    assert.deepEqual(more, []);
    if (expected === null) assert.equal(fault, undefined);
    else assert.match(fault?.message ?? "", expected);
  }
  const draft = fresh();
  for (let n = 0; n < 1000; n++) assert.deepEqual(draft.apply("append", key, `t${n}`), []);
  assert.equal(draft.apply("append", key, "one more").length, 1);
  assert.equal(draft.apply("set", ["model"], "m").length, 1);
  assert.equal(draft.operations.length, 1000);
});

test("a settings file that flemma finds must be regular and not too large; a file named explicitly may be anything but a folder", async ({ folder }) => {
  const path = `${folder}/settings`;
  const ask = (named: boolean) => {
    const read = readText(path, { named });
    return read.ok ? "read" : read.problem.message.replace(`${path} cannot be read: `, "");
  };
  await Deno.writeTextFile(path, " ".repeat(16 * 1024 * 1024));
  assert.deepEqual([ask(false), ask(true)], ["read", "read"]);
  await Deno.writeTextFile(path, " ", { append: true });
  assert.deepEqual([ask(false), ask(true)], ["it is larger than 16 MiB.", "read"]);
  await Deno.remove(path);
  assert.deepEqual([readText(path), ask(true)], [{ ok: true, value: null }, "read"]);
  await Deno.mkdir(path);
  assert.deepEqual([ask(false), ask(true)], ["it is a folder.", "it is a folder."]);
  await Deno.remove(path);
  await Deno.symlink("/dev/null", path);
  assert.deepEqual([ask(false), ask(true)], ["it is not a regular file.", "read"]);
  const below = `${path}/settings.yaml`;
  const blocked = readText(below);
  assert.match(blocked.ok ? "" : blocked.problem.message, /settings is not a folder/);
  await Deno.remove(path);
  await Deno.symlink("nowhere", path);
  const dangling = readText(path);
  assert.match(
    dangling.ok ? "" : dangling.problem.message,
    /is a symbolic link to nowhere, which does not exist/,
  );
});
