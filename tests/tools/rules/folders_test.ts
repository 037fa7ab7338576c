// Folders and policy files in rules: where `cd` leads, what paths in calls are relative to, and what stays unapproved.

import assert from "node:assert/strict";
import { inWorld } from "../../config/world.ts";
import { decideEach, open } from "./calls.ts";
import { evaluate, testInRepository as test } from "./policy.ts";

test("a wildcard after cd matches only a folder that is known before the command runs", async (folder) => {
  const rule = { approve: "bash", command: ["cd *", "cd -- *", "pushd", "popd", "ls **"] };
  const approved = async (command: string, searchesFolders = false) =>
    (await evaluate([rule], "bash", { command }, { folder, searchesFolders })).approved;
  const rows: readonly (readonly [command: string, approved: boolean])[] = [
    ["cd src", true],
    ["cd ./src", true],
    ["cd ..", true],
    ["cd /", true],
    ["cd -- -x", true],
    ["cd -", false],
    ["cd '-'", false],
    ["cd -- -", false],
    ["cd ~-", false],
    ["cd ~+", false],
    ["cd ~", false],
    ["cd ~root", false],
    ["cd ~/x", false],
    ["cd ''", false],
    ["cd $OLDPWD", false],
    ['cd "$OLDPWD"', false],
    ["cd $(pwd)", false],
    ["cd sr*", false],
    ["cd -P", false],
    ["pushd src", false],
    ["pushd +1", false],
    ["popd -n", false],
    ["CDPATH=/ cd etc", false],
  ];
  for (const [command, expected] of rows) assert.equal(await approved(command), expected, command);
  const literal = { approve: "bash", command: ["cd -", "cd ~-"] };
  for (const command of ["cd -", "cd '-'"]) {
    assert.ok((await evaluate([literal], "bash", { command }, { folder })).approved, command);
  }
});

test("with CDPATH, cd is followed only to paths that begin with a slash or a dot", async (folder) => {
  const rule = { approve: "bash", command: ["cd *", "cat **"], within: "./src/**", env: ["CDPATH"] };
  const approved = async (command: string, searchesFolders: boolean) =>
    (await evaluate([rule], "bash", { command }, { folder, searchesFolders })).approved;
  const rows: readonly (readonly [command: string, without: boolean, withIt: boolean])[] = [
    ["cd src && cat a", true, false],
    ["cd ./src && cat a", true, true],
    [`cd ${folder}/src && cat a`, true, true],
    ["cd ./src && cd .. && cd ./src && cat a", false, false],
    ["CDPATH=/etc cd src && cat a", false, false],
    ["CDPATH=/etc cd ./src && cat a", true, true],
  ];
  for (const [command, without, withIt] of rows) {
    assert.equal(await approved(command, false), without, command);
    assert.equal(await approved(command, true), withIt, `${command} with CDPATH`);
  }
});

Deno.test("commands have CDPATH only if the settings pass or set it", async () => {
  const rows: readonly (readonly [settings: string, decision: string])[] = [
    ["", "approve by approve-rules"],
    ["env: { pass: [CDPATH] },", "require_approval by default"],
    ["bash: { env: { CDPATH: /etc } },", "require_approval by default"],
  ];
  for (const [settings, decision] of rows) {
    await inWorld(async (world) => {
      await world.write(`${world.project}/src/a`, "");
      const tools = `{ ${settings} rules: [{ approve: bash, command: 'cd *' }] }`;
      await using session = await open(world, ['bash {"command":"cd src"}'], {
        settings: tools,
        variables: { CDPATH: "/etc" },
      });
      const [call] = await session.calls();
      const { decision: found, source } = call!.decided;
      assert.equal(`${found} by ${source.replace("urn:flemma:approval:", "")}`, decision, settings);
    });
  }
});

/** Calls that would write policy of the project or of a folder in it, whether or not it exists. */
const POLICY_CALLS: readonly string[] = [
  ".flemma/config.yaml",
  ".flemma/hooks.yaml",
  ".flemma/tools/x.ts",
  ".flemma",
  ".mcp.json",
  "src/.flemma/config.yaml",
  "src/.mcp.json",
  "new/.flemma/tools/x.ts",
].map((path) => `write {"path":${JSON.stringify(path)},"content":"x"}`);

Deno.test("no rule approves writing a policy file, with or without a sandbox", async () => {
  for (const sandbox of [true, false]) {
    await decideEach(
      { settings: "{ auto_approve: [], rules: [{ approve: [write, edit, read], path: './**' }] }", sandbox },
      [
        ...POLICY_CALLS.map((call) => [call, "require_approval by default"] as const),
        ['read {"path":".flemma/config.yaml"}', "approve by approve-rules"],
        ['write {"path":"src/flemma/config.yaml","content":"x"}', "approve by approve-rules"],
      ],
    );
  }
});

test("with within, no program that may write gets a policy file or protected path", async (folder) => {
  const rule = {
    approve: "bash",
    command: ["cp **", "mv **", "tee **", "rm **", "touch **", "cat **", "ls **", "grep **"],
    within: "./**",
  };
  const where = { folder, protect: [`${folder}/.git/hooks`] };
  const rows: readonly (readonly [command: string, approved: boolean])[] = [
    ["cp a .flemma/config.yaml", false],
    ["cp -t .flemma a", false],
    ["cp --target-directory=.flemma a", false],
    ["mv a .mcp.json", false],
    ["tee src/.flemma/hooks.yaml", false],
    ["rm .flemma/config.yaml", false],
    ["touch .git/hooks/pre-commit", false],
    ["cat a > .flemma/config.yaml", false],
    ["cat a >> .git/hooks/pre-commit", false],
    ["cat .flemma/config.yaml", true],
    ["cat < .flemma/config.yaml", true],
    ["ls .git/hooks", true],
    ["grep x .flemma/config.yaml", true],
    ["cp a src/b", true],
  ];
  for (const [command, expected] of rows) {
    assert.equal((await evaluate([rule], "bash", { command }, where)).approved, expected, command);
  }
});

test("rules about reading do not keep a tool that shows only names from a folder that its own rule names", async (folder) => {
  const rows: readonly (readonly [rule: Readonly<Record<string, unknown>>, tools: readonly string[]])[] = [
    [{ deny: "read", path: "src/**" }, ["ls", "find"]],
    [{ ask: ["read", "grep"], path: "**/.env*" }, ["ls", "find"]],
    [{ deny: ["read", "ls"], path: "src/x/**" }, ["find"]],
    [{ deny: "*", path: "src/x/**" }, []],
    [{ deny: "write", path: "src/**" }, ["ls", "find", "grep"]],
  ];
  for (const [rule, tools] of rows) {
    const found: string[] = [];
    for (const tool of ["ls", "find", "grep"]) {
      const rules = [{ approve: ["ls", "find", "grep"], path: "./**" }, rule];
      const { approved, restriction } = await evaluate(rules, tool, { path: "src", pattern: "x" }, {
        folder,
      });
      if (approved && restriction === null) found.push(tool);
    }
    assert.deepEqual(found, tools, JSON.stringify(rule));
  }
});

Deno.test("paths of ls, find and grep are relative to the folder in which the tool works", async () => {
  const calls = (["ls", "find", "grep"] as const).flatMap((tool) => [
    `${tool} {"path":"lib"}`,
    `${tool} {"path":"../lib"}`,
    `${tool} {}`,
  ]);
  const rules = "rules: [{ approve: [ls, find, grep], path: './lib/**' }]";
  const decided = async (tools: string) => {
    const found: boolean[] = [];
    await inWorld(async (world) => {
      await world.write(`${world.project}/lib/a`, "");
      await using session = await open(world, calls, {
        settings: `{ auto_approve: [], ${tools} ${rules} }`,
        folder: "chats",
      });
      for (const call of await session.calls()) found.push(call.decided.decision === "approve");
    });
    return [0, 1, 2].map((at) => found.slice(3 * at, 3 * at + 3));
  };
  const byDocument = [[false, true, false], [false, true, false], [false, true, false]];
  assert.deepEqual(await decided(""), byDocument);
  const start = ["ls", "find", "grep"].map((name) => `${name}: { cwd: 'urn:flemma:cwd' },`).join(" ");
  const byStart = [[true, false, false], [true, false, false], [true, false, false]];
  assert.deepEqual(await decided(start), byStart);
  assert.deepEqual(await decided(start.replaceAll("'urn:flemma:cwd'", "null")), byStart);
  const below = ["ls", "find", "grep"].map((name) => `${name}: { cwd: lib },`).join(" ");
  assert.deepEqual(await decided(below), [[true, true, true], [true, true, true], [true, true, true]]);
});
