// Commands that only read a document, as a piece of the program of their own: what a run needs is not loaded for them.

import type { CommandModule } from "./load.ts";

/** Those that the table calls quick, by name; all others are in `load.ts`. */
export const QUICK_MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "check": () => import("./document/check.ts"),
  "parse": () => import("./document/parse.ts"),
};
