// Which Deno runs tool files: the program's own, or else an installed one, or else a message that says what to
// install.

import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import type { Hosts } from "../../tools/vellum/hosts.ts";
import { fileSource } from "../../tools/vellum/source.ts";
import { findDeno } from "../../tools/vellum/runtime.ts";

async function inFolder(
  body: (folder: string, at: (path: string) => Environment) => void | Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-deno-" }));
  try {
    await body(folder, (path) => ({ cwd: folder, home: folder, variables: { PATH: path } }));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function install(folder: string): string {
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(`${folder}/deno`, "#!/bin/sh\n", { mode: 0o755 });
  return `${folder}/deno`;
}

Deno.test("if Deno runs flemma, that Deno is also used for tools, whatever is in PATH", () =>
  inFolder((folder, at) => {
    install(`${folder}/bin`);
    assert.deepEqual(findDeno(at(`${folder}/bin`), [], Deno.execPath()), {
      ok: true,
      value: Deno.execPath(),
    });
  }));

Deno.test("if Deno runs flemma, that Deno is also used if npm installed it in a project", () =>
  inFolder((folder, at) => {
    const own = install(`${folder}/node_modules/deno`);
    assert.deepEqual(findDeno(at("/nonexistent"), [folder], own), { ok: true, value: own });
  }));

Deno.test("a single binary, and flemma started by Node, use the Deno in PATH", () =>
  inFolder((folder, at) => {
    const deno = install(`${folder}/bin`);
    assert.deepEqual(findDeno(at(`/nonexistent:${folder}/bin`), [], null), { ok: true, value: deno });
  }));

Deno.test("if there is no Deno, the message says what to install", () =>
  inFolder((folder, at) => {
    Deno.mkdirSync(`${folder}/empty`);
    const found = findDeno(at(`${folder}/empty`), [], null);
    assert.ok(!found.ok);
    assert.equal(found.problem.code, "deno-missing");
    assert.match(found.problem.message, /the program deno was not found in PATH/);
    assert.match(found.problem.next ?? "", /npm install -g deno/);
  }));

Deno.test("flemma does not use a Deno in a folder that commands could have written to", () =>
  inFolder((folder, at) => {
    install(`${folder}/bin`);
    const found = findDeno(at(`${folder}/bin`), [folder], null);
    assert.ok(!found.ok);
    assert.notEqual(found.problem.code, "deno-missing");
  }));

Deno.test("if there is no Deno, a call of a tool file fails with advice to install it, and the file is not called broken", () =>
  inFolder(async (folder, at) => {
    const path = `${folder}/greet.ts`;
    Deno.writeTextFileSync(path, "export default {};");
    const environment = at(`${folder}/empty`);
    const missing = findDeno(environment, [], null);
    const hosts = { addNames: () => {}, once: () => Promise.resolve(missing) } as unknown as Hosts;
    const tools = new ToolRegistry();
    const reported: string[] = [];
    tools.register(fileSource({
      found: { files: [{ path, base: "greet", kind: "code" }], removed: [], warnings: [] },
      environment,
      hosts,
      timeout: 1,
      override: [],
      categories: null,
      has: () => false,
      refusal: () => Promise.resolve(null),
      warn: ({ message }) => void reported.push(message),
    }));
    await tools.whenReady();
    const sentence = `The tool file ${path} cannot be used: tool files need Deno, but the program deno was ` +
      "not found in PATH. Install it, for example: npm install -g deno.";
    assert.deepEqual(reported, [sentence]);
    const result = await tools.get("greet")?.execute?.({}, {} as never, () => {});
    assert.deepEqual(result, { success: false, error: sentence });
  }));
