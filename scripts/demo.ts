// The demo from a checkout: `flemma demo`, and nothing else.

import { run } from "./gate/root.ts";

Deno.exit(await run(Deno.execPath(), ["run", "-A", "--quiet", "cli.ts", "demo"]));
