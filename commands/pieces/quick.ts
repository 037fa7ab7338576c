// Commands that only read a document, as a piece of the program of their own: what a run needs is not loaded for them.

import type { CommandModule } from "../load.ts";

export { pipedBeside } from "../io/piped_document.ts";

export const MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "check": () => import("../document/check.ts"),
  "parse": () => import("../document/parse.ts"),
};
