// The effects of frontmatter on what may run and how: the same text for the same values, and nothing else.

import assert from "node:assert/strict";
import { authorityOf, findStatedAuthority } from "../../config/document/authority.ts";
import { LayerLog } from "../../config/layers/log.ts";
import type { Op } from "../../config/types.ts";

type Row = readonly [key: string, value: unknown, op?: Op];

function block(...rows: readonly Row[]): LayerLog {
  return new LayerLog("M", rows.map(([key, value, op = "set"]) => ({ op, path: key.split("."), value })));
}

const text = (log: LayerLog | null, code: string | null = null) =>
  authorityOf(log === null ? [] : [log], code).text;

Deno.test("the text that states what a frontmatter permits depends only on the values, not on their order, spelling or the rest of the frontmatter", () => {
  const one = block(["sandbox.enabled", false], ["tools.auto_approve", ["bash"]]);
  const same: readonly LayerLog[] = [
    block(["tools.auto_approve", ["bash"]], ["sandbox.enabled", false]),
    block(["sandbox.enabled", true], ["sandbox.enabled", false], ["tools.auto_approve", ["bash"]]),
    block(["tools.auto_approve", "ls", "append"], ["tools.auto_approve", ["bash"]], [
      "sandbox.enabled",
      false,
    ]),
    block(["model", "m"], ["sandbox.enabled", false], ["tools.auto_approve", ["bash"]]),
  ];
  for (const each of same) assert.equal(text(each), text(one));
  const members = (value: unknown) => text(block(["presets.$x", value]));
  assert.equal(members({ approve: ["a"], deny: ["b"] }), members({ deny: ["b"], approve: ["a"] }));
  assert.notEqual(members({ approve: ["a", "b"] }), members({ approve: ["b", "a"] }), "a list has an order");
  const others: readonly LayerLog[] = [
    block(["sandbox.enabled", true], ["tools.auto_approve", ["bash"]]),
    block(["sandbox.enabled", false], ["tools.auto_approve", ["bash", "ls"]]),
    block(["sandbox.enabled", false], ["tools.auto_approve", "bash", "append"]),
    block(["sandbox.enabled", false]),
    block(["sandbox.enabled", false], ["tools.auto_approve", ["bash"]], [
      "tools.auto_approve",
      "ls",
      "append",
    ]),
    block(["sandbox.enabled", false], ["tools.auto_approve", ["bash"]], ["tools.require_approval", false]),
  ];
  const texts = new Set(others.map((each) => text(each)));
  assert.equal(texts.size, others.length);
  assert.equal(texts.has(text(one)), false);
});

Deno.test("keys below those that decide what may run also need trust; keys that only begin with the same text do not", () => {
  const rows: readonly (readonly [string, unknown, boolean])[] = [
    ["sandbox.policy.network", true, true],
    ["tools.auto_approve", [], true],
    ["tools.require_approval", false, true],
    ["presets.$x", { approve: ["a"] }, true],
    ["tools.auto_approve_sandboxed", true, false],
    ["parameters.temperature", 1, false],
    ["model", "m", false],
  ];
  const nothing = text(null);
  for (const [key, value, counts] of rows) {
    const { text, lines } = authorityOf([block([key, value])], null);
    assert.equal(text !== nothing, counts, key);
    assert.equal(lines.length, counts ? 1 : 0, key);
  }
});

Deno.test("the authority text contains the whole frontmatter only if the frontmatter contains a function, which cannot be compared", () => {
  const decides = block(["tools.auto_approve", () => true]);
  assert.notEqual(text(decides, "one"), text(decides, "two"));
  assert.equal(text(decides, "one"), text(block(["tools.auto_approve", () => false]), "one"));
  const list = block(["tools.auto_approve", ["bash"]]);
  assert.equal(text(list, "one"), text(list, "two"));
});

Deno.test("to decide which settings need trust, flemma examines only those in the document itself", () => {
  const person = new LayerLog("G", [{ op: "set", path: ["sandbox", "enabled"], value: false }]);
  assert.equal(authorityOf([person], null).text, text(null));
  assert.equal(authorityOf([person, block(["sandbox.enabled", true])], null).lines.length, 1);
});

Deno.test("frontmatter that only restricts the current settings needs no trust: one row per kind", () => {
  const person = new LayerLog("G", [{ op: "set", path: ["tools", "max_concurrent"], value: 2 }]);
  const rows: readonly (readonly [readonly Row[], boolean, boolean])[] = [
    [[], true, false],
    [[["parameters.temperature", 1]], true, false],
    [[["tools.require_approval", true]], true, true],
    [[["tools.require_approval", false]], false, true],
    [[["tools.require_approval", true], ["sandbox.enabled", false]], false, true],
    [[["tools.max_concurrent", 1]], true, true],
    [[["tools.max_concurrent", 3]], false, true],
    [[["sandbox.policy.rw_paths", "/tmp", "remove"]], true, true],
    [[["tools", ["bash"]]], false, true],
  ];
  for (const [stated, narrows, speaks] of rows) {
    const found = findStatedAuthority([person, block(...stated)], null);
    assert.deepEqual([found.narrows, found.text !== ""], [narrows, speaks], JSON.stringify(stated));
  }
  assert.deepEqual(findStatedAuthority([person], null), { text: "", narrows: true });
});
