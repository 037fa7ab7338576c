// Runs a line of shell inside the sandbox over the folder given as first argument; prints the result as JSON.

import { projectSandbox, runInside } from "./fixture.ts";

const [root = "", shell = ""] = Deno.args;
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(await runInside(projectSandbox(root), shell))));
