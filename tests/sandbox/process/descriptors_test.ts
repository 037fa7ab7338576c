// Files left open by the process that started this program.

import assert from "node:assert/strict";
import { plant, script } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const PROGRAM = `
import { projectSandbox, runInside } from ${JSON.stringify(import.meta.resolve("../fixture.ts"))};
const [root = "", shell = ""] = Deno.args;
const { out, err } = await runInside(projectSandbox(root), shell);
console.log(out + err);
`;

/** Runs a command in a process that inherits descriptor 7, a folder outside, and 17, a file outside. */
function inherit(root: string, shell: string): string {
  plant(root, "project/", "outside/file");
  Deno.writeTextFileSync(`${root}/program.ts`, PROGRAM);
  const started = script(`${root}/start`, `exec 7<${root}/outside`, 'exec "$@"');
  const deno = [Deno.execPath(), "run", "-A", "--no-check", "--no-lock", "--quiet"];
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const { stdout, stderr, success } = new Deno.Command("bash", {
    args: [
      ...["-c", `exec 17>>${root}/outside/file; exec "$@"`, "bash"],
      ...[started, ...deno, "--config", config, `${root}/program.ts`, root, shell],
    ],
    stdin: "null",
  }).outputSync();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

test("a command inherits no file descriptor that flemma was started with", (root) => {
  const out = inherit(root, "for n in /proc/$$/fd/*; do echo ${n##*/} $(readlink $n); done");
  assert.match(out, /^0 /);
  assert.ok(!out.includes("/outside"), out);
});

test("if flemma inherits an open folder or file, a command cannot write outside the sandbox through it", (root) => {
  inherit(root, "echo x > /proc/self/fd/7/made; echo x > /proc/self/fd/17; ls /proc/self/fd/7/");
  assert.deepEqual([...Deno.readDirSync(`${root}/outside`)].map(({ name }) => name), ["file"]);
  assert.equal(Deno.readTextFileSync(`${root}/outside/file`), "text of outside/file\n");
});
