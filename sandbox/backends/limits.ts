// Resource limits of one command, as `prlimit` options.

import type { ResourceLimits } from "../../config/values.ts";

const OPTIONS: readonly (readonly [keyof ResourceLimits, string])[] = [
  ["cpu_seconds", "cpu"],
  ["memory", "as"],
  ["file_size", "fsize"],
  ["processes", "nproc"],
  ["open_files", "nofile"],
];

/**
 * Returns the options for `prlimit`; empty if no limit needs it. `tmp_size` is not among them, because it limits a
 * mount and not a process.
 */
export function limitOptions(limits: ResourceLimits): string[] {
  return OPTIONS.flatMap(([name, option]) => {
    const value = limits[name];
    return value === undefined ? [] : [`--${option}=${value}`];
  });
}
