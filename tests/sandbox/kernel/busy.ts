// Runs one command under Landlock in a folder where a command of another run lives.

import { projectSandbox, runPrepared } from "../fixture.ts";

const sandbox = projectSandbox(Deno.args[0]!, { backend: "landlock" });
const { code } = await runPrepared(sandbox, ["true"]);
Deno.exit(code);
