// Starts a command in the sandbox of the folder in the first argument, and kills itself where the second argument
// says.

import { projectSandbox } from "../fixture.ts";

const [root = "", at = "", shell = ""] = Deno.args;
const sandbox = projectSandbox(root);
const prepared = await sandbox.prepare(["/bin/sh", "-c", shell]);
if (!prepared.ok) throw new Error(prepared.problem.message);
const { cwd, variables } = sandbox.host.environment;
const die = () => Deno.kill(Deno.pid, "SIGKILL");
if (at === "gate") {
  const write = Deno.writeTextFileSync;
  // The record is written once the process exists and before it may go on.
  Deno.writeTextFileSync = (path, ...rest) => {
    if (String(path).includes("/started/")) die();
    write(path, ...rest);
  };
}
if (at === "early") {
  const read = Deno.readTextFileSync;
  // What keeps the command from outliving this program is never in place, however long it gets ready.
  let looks = 0;
  Deno.readTextFileSync = (path) => {
    if (!/^\/proc\/\d+\/status$/.test(String(path))) return read(path);
    if (++looks === 40) die();
    return read(path).replace(/^Seccomp_filters:.*\n/m, "").replace(/^State:.*$/m, "State:\tR (running)");
  };
}
prepared.value.start({ cwd, env: variables });
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, 5));
  try {
    Deno.statSync(`${cwd}/ran`);
    die();
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}
