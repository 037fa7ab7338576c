// Runs one command under Landlock in a folder where a command of another run lives. With a second argument, it then says
// so, and stays.

import { projectSandbox, runPrepared } from "../fixture.ts";

const [root = "", stays] = Deno.args;
const sandbox = projectSandbox(root, { backend: "landlock" });
const { code } = await runPrepared(sandbox, ["true"]);
if (stays !== undefined) {
  Deno.stdout.writeSync(new TextEncoder().encode("done\n"));
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}
Deno.exit(code);
