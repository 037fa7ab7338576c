// What a rule approved is what runs: a path that leads elsewhere when its turn comes is an error.

import assert from "node:assert/strict";
import { DecidedPaths, type RuleEvaluator } from "../../../tools/approval/mod.ts";
import type { ExecutionContext, ToolDefinition } from "../../../tools/definition.ts";
import { inWorld } from "../../config/world.ts";
import { bash, open } from "./calls.ts";
import { testInRepository as test } from "./policy.ts";

Deno.test("if a command creates a link while a read waits, the read cannot leave the paths of its rule", async () => {
  await inWorld(async (world) => {
    await world.write(`${world.folder}/secret`, "the secret");
    await world.write(`${world.project}/src/a`, "plain");
    const calls = [bash(`ln -sf ../../secret src/a`), 'read {"path":"src/a"}', 'read {"path":"src/b"}'];
    await world.write(`${world.project}/src/b`, "unmoved");
    await using session = await open(world, calls, {
      settings: '{ auto_approve: [bash], rules: [{ approve: read, path: "src/**" }], max_concurrent: 1 }',
    });
    assert.deepEqual((await session.calls()).map(({ decided }) => decided.decision), [
      "approve",
      "approve",
      "approve",
    ]);
    await session.advance();
    const text = new TextDecoder().decode(session.chat.bytes);
    assert.doesNotMatch(text, /the secret/);
    assert.match(text, /src\/a resolves to another file than when this call was approved/);
    assert.match(text, /unmoved/, "others run as ever");
  });
});

test("if a rule denies a call when it would start, the call does not run, even if it was approved before", async (folder) => {
  let denies = false;
  const rules: RuleEvaluator = {
    restricts: true,
    approves: false,
    placeOf: () => "here",
    evaluate: () =>
      Promise.resolve({
        restriction: denies
          ? {
            decision: "deny",
            rule: { rule: { decision: "deny", tools: ["t"] }, written: {}, key: "", layer: "G" },
            part: "x",
            unsure: null,
          }
          : null,
        approved: false,
        approval: null,
        commands: [],
        path: null,
        why: null,
      }),
  };
  let ran = 0;
  const tool: ToolDefinition = {
    name: "t",
    description: "",
    input_schema: {},
    path_input: "path",
    execute: () => ({ success: true, output: String(ran += 1) }),
  };
  const paths = new DecidedPaths(rules, (_tool, path) => `${folder}/${path}`);
  const run = async (input: Record<string, unknown>, id = "c") =>
    await paths.guarded(id, tool).execute?.(input, {} as ExecutionContext, () => {}) as {
      success: boolean;
    };
  await Deno.writeTextFile(`${folder}/a`, "");
  paths.note("c", tool, { path: "a" });
  assert.ok((await run({ path: "a" })).success);
  assert.ok((await run({ path: "a" }, "never noted")).success, "a call that nobody decided in this run");
  await Deno.remove(`${folder}/a`);
  assert.ok((await run({ path: "a" })).success, "a deleted file is left to the tool");
  await Deno.symlink("docs", `${folder}/a`);
  assert.equal((await run({ path: "a" })).success, false);
  assert.ok((await run({ path: "a" }, "never noted")).success);
  denies = true;
  assert.equal((await run({ path: "a" }, "never noted")).success, false);
  assert.equal(ran, 4);
  const plain = { ...tool, path_input: undefined };
  assert.equal(paths.guarded("c", plain), plain, "a tool without a path is as it was");
});
