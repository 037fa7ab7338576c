// What the sandbox does to files after a command is part of a result, so that the model knows it.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { createSandbox, type RunSandbox } from "../../sandbox/sandbox.ts";
import { runTool } from "../../tools/run.ts";
import { type Scene, testInScene as test } from "./scene.ts";

function realSandbox(place: Scene): RunSandbox {
  return createSandbox({
    settings: {
      ...DEFAULT_SETTINGS.sandbox,
      backend: "required",
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, rw_paths: ["urn:flemma:buffer:path"] },
    },
    environment: {
      cwd: place.folder,
      home: place.path("home"),
      variables: { PATH: Deno.env.get("PATH") ?? "", XDG_RUNTIME_DIR: place.path("run") },
    },
    document: place.document,
    protect: [place.document],
    listening: () => [],
  });
}

/** How often a text contains the sentence about a moved file. */
function mentions(text: string, path: string): number {
  return text.split(`[Moved ${path} to `).length - 1;
}

const PLANT = "echo 'touch x' > .envrc";

test("the result of a command says that a file which it created was moved away, and where to", async (place) => {
  const output = await place.output("bash", { label: "l", command: `${PLANT}; echo done` }, {
    sandbox: realSandbox(place),
  });
  assert.match(
    output,
    /^done\n\n\[Moved .*\/\.envrc to (.*): a command created it, and other programs .*\. Only the user can undo this\.\]$/,
  );
  const [, moved = ""] = / to (\S+): a command/.exec(output) ?? [];
  assert.equal(Deno.readTextFileSync(moved), "touch x\n");
});

test("the result of a failed command says so, too", async (place) => {
  const error = await place.error("bash", { label: "l", command: `${PLANT}; exit 3` }, {
    sandbox: realSandbox(place),
  });
  assert.match(error, /exit code 3\.\n\n\[Moved .*\/\.envrc to /);
});

test("the result of a command that timed out says so, too", async (place) => {
  const error = await place.error("bash", { label: "l", command: `${PLANT}; sleep 60`, timeout: 1 }, {
    sandbox: realSandbox(place),
  });
  assert.match(error, /timed out after 1 second and was stopped\.\n\n\[Moved .*\/\.envrc to /);
});

test("the result of a command that changed nothing special has no such sentence", async (place) => {
  const output = await place.output("bash", { label: "l", command: "echo x > y; echo done" }, {
    sandbox: realSandbox(place),
  });
  assert.equal(output, "done");
});

test("the result says that a replaced link was restored", async (place) => {
  Deno.mkdirSync(place.path("elsewhere"));
  Deno.mkdirSync(place.path("project/real"), { recursive: true });
  Deno.symlinkSync("real", place.path("project/.vscode"));
  const output = await place.output("bash", {
    label: "l",
    command: "cd project && rm .vscode && mkdir .vscode && echo x > .vscode/tasks.json; echo done",
  }, { sandbox: createSandboxIn(place, "project") });
  assert.match(output, /^done\n\n\[Restored the symbolic link .*\/project\/\.vscode: /);
});

function createSandboxIn(place: Scene, folder: string): RunSandbox {
  return createSandbox({
    settings: {
      ...DEFAULT_SETTINGS.sandbox,
      backend: "required",
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, rw_paths: ["urn:flemma:cwd", "urn:flemma:buffer:path"] },
    },
    environment: {
      cwd: place.path(folder),
      home: place.path("home"),
      variables: { PATH: Deno.env.get("PATH") ?? "", XDG_RUNTIME_DIR: place.path("run") },
    },
    document: place.document,
    protect: [place.document],
  });
}

test("of two commands at the same time, one result says what was moved", async (place) => {
  const sandbox = realSandbox(place);
  const results = await Promise.all([
    place.output("bash", { label: "l", command: `${PLANT}; echo first` }, { sandbox }),
    place.output("bash", { label: "l", command: "sleep 0.3; echo second" }, { sandbox }),
  ]);
  assert.equal(mentions(results.join("\n"), place.path(".envrc")), 1);
});

test("what is repaired only after the result of a command is in the next result", async (place) => {
  const sandbox = realSandbox(place);
  // Another process in the sandbox, such as an MCP server, delays the repairs.
  const server = await sandbox.prepare(["true"]);
  assert.ok(server.ok);
  const output = await place.output("bash", { label: "l", command: `${PLANT}; echo done` }, { sandbox });
  assert.equal(output, "done");
  await server.value.dispose();
  const listed = await place.output("ls", { label: "l", path: "." }, { sandbox });
  assert.equal(mentions(listed, place.path(".envrc")), 1);
  const again = await place.output("ls", { label: "l", path: "." }, { sandbox });
  assert.equal(mentions(again, place.path(".envrc")), 0);
});

test("a structured result stays as it is, and the next one has the sentence", async (place) => {
  const sandbox = realSandbox(place);
  const server = await sandbox.prepare(["true"]);
  assert.ok(server.ok);
  await place.output("bash", { label: "l", command: PLANT }, { sandbox });
  await server.value.dispose();
  const definition = {
    name: "structured",
    description: "d",
    input_schema: { type: "object" as const },
    execute: () => ({ success: true, output: { a: 1 } }),
  };
  const context = place.context(definition, { sandbox });
  assert.deepEqual(await runTool(definition, {}, context), { success: true, output: { a: 1 } });
  const numbers = { ...definition, execute: () => ({ success: true, output: 42 }) };
  const { output } = await runTool(numbers, {}, place.context(numbers, { sandbox }));
  assert.match(String(output), /^42\n\n\[Moved /);
});
