// Runs the demo from a checkout: `flemma demo`.

import { run } from "./gate/root.ts";

Deno.exit(await run(Deno.execPath(), ["run", "-A", "--quiet", "cli.ts", "demo"]));
