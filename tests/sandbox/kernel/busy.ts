// Runs one command under Landlock in a folder where a command of another run lives, and says when.

import { projectSandbox, runPrepared } from "../fixture.ts";

const say = (line: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

const sandbox = projectSandbox(Deno.args[0]!, { backend: "landlock" });
await sandbox.available();
say("preparing");
const { code } = await runPrepared(sandbox, ["true"]);
say(`ended ${code}`);
