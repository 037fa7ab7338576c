// Runs the command line: takes arguments and returns an exit code.

import { start } from "./commands/start/start.ts";

if (import.meta.main) Deno.exit(await start(Deno.args));
