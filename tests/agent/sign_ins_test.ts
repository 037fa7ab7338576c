// Sign-ins at MCP servers belong to one owner.

import assert from "node:assert/strict";
import { SignIns } from "../../agent/extensions/sign_ins.ts";
import { signInsFolder } from "../../base/folders.ts";
import type { SignIn } from "../../tools/mcp/sign_in/types.ts";
import { inFolder } from "../folder.ts";

const OWNER = { name: "issues", url: "https://issues.test/mcp", file: null };

const SIGN_IN = {
  issuer: "https://login.test",
  resource: null,
  client: { client_id: "flemma" },
  scope: null,
  expires_at: null,
  access_token: "token-of-issues",
  refresh_token: null,
} as unknown as SignIn;

for (
  const [what, other] of [
    ["another address", { ...OWNER, url: "https://other.test/mcp" }],
    ["a file of a project", { ...OWNER, file: "/project/.mcp.json" }],
  ] as const
) {
  Deno.test(`a sign-in is not given to ${what} whose file has the same name`, () =>
    inFolder(async (folder) => {
      const environment = { cwd: folder, home: folder, variables: { XDG_STATE_HOME: `${folder}/state` } };
      const helpers = () => ({ environment, cwd: folder }) as never;
      const own = new SignIns(OWNER, environment, helpers);
      assert.equal(await own.keep(SIGN_IN), "file");
      assert.equal((await own.read())?.access_token, "token-of-issues");
      const stranger = new SignIns(other, environment, helpers);
      await stranger.keep({ ...SIGN_IN, access_token: "token-of-other" });
      const jsons = [...Deno.readDirSync(signInsFolder(environment))].filter(({ name }) =>
        name.endsWith(".json")
      );
      assert.equal(jsons.length, 2);
      const paths = jsons.map(({ name }) => `${signInsFolder(environment)}/${name}`);
      const ofOwn = paths.find((path) => Deno.readTextFileSync(path).includes("token-of-issues"))!;
      const ofOther = paths.find((path) => path !== ofOwn)!;
      Deno.copyFileSync(ofOwn, ofOther);
      assert.equal(await stranger.read(), null);
      assert.deepEqual(await stranger.wanted(), []);
    }));
}
