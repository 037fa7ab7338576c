// The version of this program.

import manifest from "../../deno.json" with { type: "json" };

export const VERSION: string = manifest.version;
