// Helper programs are never taken from a place that sandboxed commands can write to.

import assert from "node:assert/strict";
import { findProgram } from "../../../sandbox/process/program.ts";
import { plant, script, world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

test("a program in a writable folder of PATH is skipped", (root) => {
  plant(root, "project/bin/", "system/", "trick -> project/bin");
  script(`${root}/project/bin/tool`, "exit 0");
  script(`${root}/system/tool`, "exit 0");
  const find = (path: string, cwd = `${root}/project`) => {
    const found = findProgram("tool", world(root, { PATH: path }, cwd), [`${root}/project`]);
    return found.ok ? found.value : found.problem.code;
  };
  assert.equal(find(`${root}/project/bin:${root}/system`), `${root}/system/tool`);
  assert.equal(find(`${root}/trick:${root}/system`), `${root}/system/tool`);
  assert.equal(find(`${root}/project/bin`), "program-in-writable-path");
  assert.equal(find(".::bin", `${root}/project/bin`), "program-not-found");
  // Relative entries do not count even where they would lead to a safe folder right now.
  const up = "../".repeat(Deno.cwd().split("/").length);
  assert.equal(find(`${up}${root.slice(1)}/system`), "program-not-found");
  assert.equal(find(""), "program-not-found");
});

test("a link in a safe folder is not used if it leads to a program in a writable folder", (root) => {
  plant(root, "project/", "system/", "system/tool -> ../project/tool");
  script(`${root}/project/tool`, "exit 0");
  const found = findProgram("tool", world(root, { PATH: `${root}/system` }), [`${root}/project`]);
  assert.equal(found.ok ? found.value : found.problem.code, "program-in-writable-path");
});

test("a program given by its path passes the same checks as one found in PATH", (root) => {
  plant(root, "project/", "system/text");
  script(`${root}/project/tool`, "exit 0");
  script(`${root}/system/tool`, "exit 0");
  const find = (name: string) => {
    const found = findProgram(name, world(root, {}, `${root}/project`), [`${root}/project`]);
    return found.ok ? found.value : found.problem.code;
  };
  assert.equal(find(`${root}/system/tool`), `${root}/system/tool`);
  assert.equal(find("./tool"), "program-in-writable-path");
  assert.equal(find(`${root}/system/text`), "program-not-executable");
  assert.equal(find(`${root}/none`), "program-not-found");
});
