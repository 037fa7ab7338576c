// The command line: arguments in, exit code out.

import { main } from "./commands/main.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));
