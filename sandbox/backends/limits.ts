// Limits on what one command may use, as words before it (sandbox 12.3).

import type { ResourceLimits } from "../../config/settings/sandbox.ts";

/** The options of `prlimit` by the limit they set. */
const OPTIONS: readonly (readonly [keyof ResourceLimits, string])[] = [
  ["cpu_seconds", "cpu"],
  ["memory", "as"],
  ["file_size", "fsize"],
  ["processes", "nproc"],
  ["open_files", "nofile"],
];

/** The options for `prlimit`; empty when no limit needs it. `tmp_size` is a mount, not a limit of a process. */
export function limitOptions(limits: ResourceLimits): string[] {
  return OPTIONS.flatMap(([name, option]) => {
    const value = limits[name];
    return value === undefined ? [] : [`--${option}=${value}`];
  });
}
