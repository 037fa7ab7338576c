// A sandbox for tests about approval: it answers questions and runs nothing.

import { failure, success } from "../../base/problem.ts";
import type { Sandbox } from "../../sandbox/types.ts";

/** One with a backend that works, switched on or off. */
export function workingSandbox(enabled: boolean): Sandbox {
  return {
    enabled,
    policy: () => success({ rw_paths: ["/tmp"], network: true, allow_privileged: false, protect: [] }),
    available: () => Promise.resolve(success("stand-in")),
    prepare: () => Promise.resolve(failure("backend-unavailable", "Nothing runs here.")),
    isPathWritable: () => true,
    isPathReadable: () => true,
    notices: () => [],
  };
}
