// The system functions in a bundle of the library. The build puts this `Deno` in the place of the global one.

import { systemOfRuntime } from "./system.ts";

/** What browsers and old runtimes get: the parts of the library that need no system work, and others say why not. */
const NO_SYSTEM = new Proxy({}, {
  get() {
    throw new Error("This needs Deno or Node 22 for files, commands and requests.");
  },
});

const system = (systemOfRuntime() ?? NO_SYSTEM) as typeof Deno;
export { system as Deno };
