// The module of each command, loaded when it is the one that was asked for.

import type { Invocation } from "./invocation.ts";
import { SETTINGS_MODULES } from "./settings_commands.ts";

export interface CommandModule {
  /** Runs the command and answers with the exit code. */
  run(invocation: Invocation): Promise<number>;
}

export const MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "advance": () => import("./advance.ts"),
  "approve": () => import("./approve.ts"),
  "reject": () => import("./reject.ts"),
  "execute": () => import("./execute.ts"),
  "send": () => import("./send.ts"),
  "status": () => import("./status.ts"),
  "check": () => import("./check.ts"),
  "parse": () => import("./parse.ts"),
  "new": () => import("./new.ts"),
  "demo": () => import("./demo.ts"),
  "doctor": () => import("./doctor.ts"),
  "sandbox status": () => import("./sandbox_status.ts"),
  "sandbox run": () => import("./sandbox_run.ts"),
  ...SETTINGS_MODULES,
};
