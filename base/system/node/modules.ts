// The system modules of Node. They are fetched when the system of Node is made: a static import would keep browsers and
// their bundlers from loading the library.

/** The modules of Node that the system needs. */
export interface NodeModules {
  readonly fs: typeof import("node:fs");
  readonly os: typeof import("node:os");
  readonly net: typeof import("node:net");
  readonly http: typeof import("node:http");
  readonly module: typeof import("node:module");
  readonly stream: typeof import("node:stream");
  readonly processes: typeof import("node:child_process");
  readonly process: typeof import("node:process");
}

/** The first version of Node with everything that the library uses of the language. */
const OLDEST = 22;

/** Returns the modules; null if the runtime is not Node, or is older than 22.3. */
export function nodeModules(): NodeModules | null {
  const { process } = globalThis as { process?: NodeModules["process"] };
  const version = process?.versions?.node;
  if (process === undefined || version === undefined || parseInt(version) < OLDEST) return null;
  if (process.getBuiltinModule === undefined) return null;
  return {
    fs: process.getBuiltinModule("node:fs"),
    os: process.getBuiltinModule("node:os"),
    net: process.getBuiltinModule("node:net"),
    http: process.getBuiltinModule("node:http"),
    module: process.getBuiltinModule("node:module"),
    stream: process.getBuiltinModule("node:stream"),
    processes: process.getBuiltinModule("node:child_process"),
    process,
  };
}
