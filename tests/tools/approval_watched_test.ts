// Writing a file that another program's next start obeys asks the person, whatever list approves the tool.

import assert from "node:assert/strict";
import { type ApprovalDecision, watchedFile, withDowngrades } from "../../tools/approval/mod.ts";
import type { WatchedParts } from "../../tools/approval/watched.ts";
import { plant, projectSandbox } from "../sandbox/fixture.ts";
import { testInFolder as test } from "../folder.ts";

type Asked = Omit<WatchedParts, "definition"> & {
  readonly definition: ReturnType<WatchedParts["definition"]>;
  readonly input: Readonly<Record<string, unknown>>;
};

function decided(
  decided: ApprovalDecision,
  { definition, input, ...parts }: Asked,
): Promise<ApprovalDecision> {
  const downgrade = watchedFile({ ...parts, definition: () => definition });
  return withDowngrades(() => Promise.resolve(decided), [downgrade])({ id: "c1", name: "write", input });
}

Deno.test("writing a watched file needs approval even if the list approves the tool: one row per condition", async () => {
  const approve = { decision: "approve", source: "list" } as const;
  const write = { files: "write", path_input: "path" } as const;
  const sandbox = { watchedBy: (path: string) => path === "/w/.npmrc" ? "npm" : null };
  const resolve = (path: string) => `/w/${path}`;
  const input = { path: ".npmrc" };
  const asked = { definition: write, input, sandbox, resolve };
  assert.deepEqual(await decided(approve, asked), {
    decision: "require_approval",
    source: "urn:flemma:approval:watched-file",
    detail: "npm would act on .npmrc",
  });
  const deny = { decision: "deny", source: "list" } as const;
  assert.equal(await decided(deny, asked), deny, "a denial stays");
  const rows = [
    ["a tool that only reads", { ...asked, definition: { ...write, files: "read" as const } }],
    ["a tool that works with no files", { ...asked, definition: { path_input: "path" } }],
    ["an unknown tool", { ...asked, definition: undefined }],
    ["a tool that names no path", { ...asked, definition: { files: "write" as const } }],
    ["another file", { ...asked, input: { path: "x" } }],
    ["no path", { ...asked, input: {} }],
    ["an empty path", { ...asked, input: { path: "" }, resolve: () => "/w/.npmrc" }],
    ["a path that is not a string", { ...asked, input: { path: 1 } }],
    ["a path that leads nowhere", { ...asked, resolve: () => "/w/.npmrc\0" }],
    ["a sandbox that watches nothing", { ...asked, sandbox: {} }],
  ] as const;
  for (const [what, changed] of rows) assert.equal(await decided(approve, changed), approve, what);
});

test("writing through a link to a watched file, or through a linked folder, needs approval too", async (root) => {
  plant(root, "project/.npmrc", "project/n -> .npmrc", "project/d -> .", "project/plain");
  const sandbox = projectSandbox(root);
  const ask = async (path: string) =>
    (await decided({ decision: "approve", source: "list" }, {
      definition: { files: "write", path_input: "path" },
      input: { path },
      sandbox,
      resolve: (path) => `${root}/project/${path}`,
    })).decision;
  for (const path of [".npmrc", "n", "d/.npmrc", "sub/.envrc", ".cargo/config.toml"]) {
    assert.equal(await ask(path), "require_approval", path);
  }
  assert.equal(await ask("plain"), "approve");
});
