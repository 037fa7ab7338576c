// Runs the command line: arguments in, exit code out.

import { start } from "./commands/start/start.ts";

if (import.meta.main) Deno.exit(await start(Deno.args));
