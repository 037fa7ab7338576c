// Resource limits of one command, as `prlimit` options.

import type { ResourceLimits } from "../../config/values.ts";

const OPTIONS: readonly (readonly [keyof ResourceLimits, string])[] = [
  ["cpu_seconds", "cpu"],
  ["memory", "as"],
  ["file_size", "fsize"],
  ["processes", "nproc"],
  ["open_files", "nofile"],
];

/** The options for `prlimit`; empty if no limit needs it. `tmp_size` is a mount, not a process limit. */
export function limitOptions(limits: ResourceLimits): string[] {
  return OPTIONS.flatMap(([name, option]) => {
    const value = limits[name];
    return value === undefined ? [] : [`--${option}=${value}`];
  });
}
