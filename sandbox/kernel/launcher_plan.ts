// What flemma and the launcher of Landlock agree on: the plan, the descriptors, and how the launcher is started.

import type { LandlockPlan } from "./landlock_plan.ts";

/** What the launcher reads, as JSON. */
export interface LauncherPlan extends Pick<LandlockPlan, "abi" | "handled" | "refusesTcp" | "rules"> {
  /** The system call filter, a number per byte. */
  readonly filter: readonly number[];
  /** The process that prepared the command. Without it, nothing starts. */
  readonly owner: number;
  /** The list of members of the control group that the command joins; null if it joins none. */
  readonly group: string | null;
  readonly checks: LauncherChecks;
  /** The only way to the network, if there is a list of its hosts; otherwise null. */
  readonly proxy: LauncherProxy | null;
  /** Only for a launcher that has waited: what it cannot inherit. */
  readonly start?: WaitedStart;
}

/** A proxy on this machine. */
export interface LauncherProxy {
  readonly port: number;
  /** Variables by which the command finds it, with its secret. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What a launcher starts that was itself started before the command was known. */
export interface WaitedStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** What the confined process really tries before it becomes the command. If one result is wrong, nothing runs. */
export interface LauncherChecks {
  /** An existing file that it must not write. */
  readonly unwritable: string;
  /** Existing files that it must not read. */
  readonly unreadable: readonly string[];
  /** Families of sockets that it must not create. */
  readonly families: readonly number[];
  /** A folder in which it must be able to move a file between two folders; null if that is known. */
  readonly movable: string | null;
}

/** The descriptor that the launcher inherits. Lines of the report: `ready`, `exit CODE`, `failed CAUSE`. */
export const REPORT_DESCRIPTOR = 9;

/** In place of the path of a plan: the plan comes on standard input, after a line with its length in bytes. */
export const WAITS = "-";

/** The roles of the launcher's processes. The role is the first argument. */
export const GUARD_ROLE = "guard";
export const COMMAND_ROLE = "command";

/**
 * The launcher's runtime must not need a home folder, and must not write into the cache of commands. Meanwhile, this
 * variable keeps the command's own value.
 */
export const OWN_CACHE_VARIABLE = "FLEMMA_DENO_DIR";
export const CACHE_VARIABLE = "DENO_DIR";
/** A cache folder that cannot exist. */
export const NO_CACHE = "/dev/null/deno";

/** Exit code of the launcher if the command did not run. */
export const NOT_STARTED = 125;

/** Options of the runtime that runs the launcher. */
export const RUNTIME_ARGUMENTS: readonly string[] = [
  "run",
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--allow-all",
];
