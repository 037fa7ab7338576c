// MCP servers outside the sandbox, hooks and key commands: none runs code that commands can write, and the refusal says
// what to do.

import assert from "node:assert/strict";
import { helperPlace } from "../../../agent/extensions/helper_place.ts";
import { runHook } from "../../../agent/conversation/notification.ts";
import { DEFAULT_SETTINGS, type McpServer } from "../../../config/settings.generated.ts";
import { resolveCredential } from "../../../providers/keys/credentials.ts";
import { RESOLVERS } from "../../../providers/keys/resolvers.ts";
import { denoServer, type Place, withPlace } from "./scene.ts";

const SCRIPTED = Deno.readTextFileSync(new URL("scripted.ts", import.meta.url));

/** Copies the server into the project, and gives the way to start it. */
function inProject(place: Place): McpServer {
  Deno.writeTextFileSync(`${place.folder}/server.ts`, SCRIPTED);
  return { ...denoServer(`${place.folder}/server.ts`, "."), sandbox: false };
}

const CALL = [{ name: "one:echo", input: { text: "x" } }] as const;

Deno.test("a server whose code is in the project runs in the sandbox, and outside it the refusal names both remedies", () =>
  withPlace(async (place) => {
    const server = inProject(place);
    const refused = await place.run({ one: server }, CALL);
    const said = refused.notices.join("\n");
    assert.match(said, new RegExp(`Commands in the sandbox can change ${place.folder}/server\\.ts`));
    assert.match(said, /remove mcp\.servers\.one\.sandbox.*or move its code/s);
    assert.throws(
      () => Deno.statSync(`${place.folder}/heard.jsonl`),
      Deno.errors.NotFound,
      "it never started",
    );
    const inside = await place.run({ one: { ...server, sandbox: true } }, CALL);
    assert.match(inside.result(0), /echo/);
  }));

Deno.test("a server outside the sandbox may get the project's folder as an argument, but not as its working folder", () =>
  withPlace(async (place) => {
    const away = `${place.root}/away`;
    Deno.mkdirSync(away);
    Deno.writeTextFileSync(`${away}/server.ts`, SCRIPTED);
    const server: McpServer = { ...denoServer(`${away}/server.ts`, place.folder), sandbox: false };
    assert.match((await place.run({ one: server }, CALL)).result(0), /echo/);
    const there = await place.run({ one: { ...server, cwd: place.folder } }, CALL);
    assert.match(there.notices.join("\n"), new RegExp(`Commands in the sandbox can change ${place.folder},`));
  }));

Deno.test("a program that a command put in front of another in PATH is not run outside the sandbox", () =>
  withPlace(async (place) => {
    Deno.mkdirSync(`${place.folder}/bin`);
    for (const name of ["deno", "sh", "pass", "notify"]) {
      Deno.writeTextFileSync(
        `${place.folder}/bin/${name}`,
        `#!/bin/sh\necho planted >${place.root}/planted\n`,
        {
          mode: 0o755,
        },
      );
    }
    const { environment } = place;
    const variables = { ...environment.variables, PATH: `${place.folder}/bin:${environment.variables.PATH}` };
    const planted = { ...environment, variables };
    const roots = [place.folder];
    const stop = { reason: "done", ids: [], line: null, problem: null } as never;
    const hooks = { on_pending: null, on_error: null, on_done: ["notify"] };
    const document = `${place.folder}/a.chat`;
    await runHook({ hooks, environment: planted, variables, roots, document, stop });
    await runHook({
      hooks: { ...hooks, on_done: "notify; deno --version" },
      environment: planted,
      variables,
      roots,
      document,
      stop,
    });
    const sandbox = {
      ...DEFAULT_SETTINGS.sandbox,
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, rw_paths: ["urn:flemma:cwd"] },
    };
    const helpers = helperPlace({ sandbox }, planted, null);
    const provider = { name: "p", display: "P", keyVariables: ["P_KEY"] };
    for (const key_command of [["pass", "show"], "pass show"]) {
      const settings = {
        providers: { p: { key_command } },
        secrets: { gcloud: { path: "gcloud" } },
      } as never;
      await resolveCredential({ provider, environment: planted, settings, helpers }, RESOLVERS.slice(0, 1));
    }
    assert.throws(() => Deno.statSync(`${place.root}/planted`), Deno.errors.NotFound);
  }));

Deno.test("a hook, or a command that fetches a key, does not run if it names a file in the project, and the message says so", () =>
  withPlace(async (place) => {
    const script = `${place.folder}/script.sh`;
    Deno.writeTextFileSync(script, `#!/bin/sh\necho ran >${place.root}/ran\necho key\n`, { mode: 0o755 });
    const { environment } = place;
    const stop = { reason: "done", ids: [], line: null, problem: null } as never;
    const provider = { name: "p", display: "P", keyVariables: ["P_KEY"] };
    const sandbox = {
      ...DEFAULT_SETTINGS.sandbox,
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, rw_paths: ["urn:flemma:cwd"] },
    };
    for (
      const command of [[script], ["./script.sh"], ["sh", script], script, "./script.sh", `sh '${script}'`]
    ) {
      const problem = await runHook({
        hooks: { on_pending: null, on_error: null, on_done: command },
        environment,
        variables: environment.variables,
        roots: [place.folder],
        document: null,
        stop,
      });
      assert.equal(problem?.code, "hook-in-reach", String(command));
      const found = await resolveCredential({
        provider,
        environment,
        settings: {
          providers: { p: { key_command: command } },
          secrets: { gcloud: { path: "gcloud" } },
        } as never,
        helpers: helperPlace({ sandbox }, environment, null),
      }, RESOLVERS.slice(0, 1));
      assert.match(
        found.ok ? "" : found.problem.message,
        /which commands in the sandbox can change/,
        String(command),
      );
    }
    const gcloud = await resolveCredential({
      provider: { ...provider, keyKind: "access_token" },
      environment,
      settings: { providers: {}, secrets: { gcloud: { path: script } } } as never,
      helpers: helperPlace({ sandbox }, environment, null),
    }, RESOLVERS.filter(({ name }) => name === "gcloud"));
    assert.match(gcloud.ok ? "" : gcloud.problem.message, /which commands in the sandbox can change/);
    assert.throws(() => Deno.statSync(`${place.root}/ran`), Deno.errors.NotFound);
  }));

Deno.test("a hook runs in a folder of its own, and a variable names the project's folder", () =>
  withPlace(async (place) => {
    const { environment } = place;
    const told = `${place.root}/told`;
    const problem = await runHook({
      hooks: { on_pending: null, on_error: null, on_done: `{ pwd; echo "$CLAUDE_PROJECT_DIR"; } >${told}` },
      environment,
      variables: environment.variables,
      roots: [place.folder],
      document: null,
      stop: { reason: "done", ids: [], line: null, problem: null } as never,
    });
    assert.equal(problem, null);
    const state = `${place.root}/state/flemma/outside/work/hooks`;
    assert.equal(Deno.readTextFileSync(told), `${state}\n${place.folder}\n`);
  }));

Deno.test("a server outside the sandbox does not load what a command planted in the project, whatever it searches for", () =>
  withPlace(async (place) => {
    const planted = `open(${JSON.stringify(`${place.root}/planted`)}, "w").write("x")\n`;
    for (const name of ["this.py", "sitecustomize.py", "usercustomize.py", "tool.py"]) {
      Deno.writeTextFileSync(`${place.folder}/${name}`, planted);
    }
    Deno.writeTextFileSync(`${place.folder}/.npmrc`, `node-options=--require ${place.folder}/planted.js\n`);
    Deno.writeTextFileSync(
      `${place.folder}/planted.js`,
      `require("fs").writeFileSync(${JSON.stringify(`${place.root}/planted`)}, "x")`,
    );
    const servers: readonly McpServer[] = [
      { command: "python3", args: ["-m", "this"], sandbox: false },
      {
        command: "python3",
        args: ["-m", "this"],
        sandbox: false,
        env: { PYTHONPATH: `.:${place.folder}` },
      },
      { command: "npm", args: ["exec", "--offline", "--", "node", "-e", "1"], sandbox: false },
      {
        command: "node",
        args: ["-e", "1"],
        sandbox: false,
        env: { NODE_OPTIONS: `--require=${place.folder}/planted.js` },
      },
    ];
    for (const server of servers) {
      await place.run({ one: { ...server, start_timeout: 5 } }, CALL);
      assert.throws(
        () => Deno.statSync(`${place.root}/planted`),
        Deno.errors.NotFound,
        JSON.stringify(server),
      );
    }
  }));
