// The module of each command, loaded when it is the one that was asked for.

import type { Invocation } from "./invocation.ts";
import { SETTINGS_MODULES } from "./line/settings_table.ts";

export interface CommandModule {
  /** Runs the command and answers with the exit code. */
  run(invocation: Invocation): Promise<number>;
}

export const MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "advance": () => import("./document/advance.ts"),
  "approve": () => import("./document/approve.ts"),
  "reject": () => import("./document/reject.ts"),
  "execute": () => import("./document/execute.ts"),
  "send": () => import("./document/send.ts"),
  "status": () => import("./document/status.ts"),
  "check": () => import("./document/check.ts"),
  "parse": () => import("./document/parse.ts"),
  "new": () => import("./document/new.ts"),
  "demo": () => import("./setup/demo.ts"),
  "doctor": () => import("./setup/doctor.ts"),
  "sandbox status": () => import("./sandbox/status.ts"),
  "sandbox run": () => import("./sandbox/run.ts"),
  ...SETTINGS_MODULES,
};
