// Commands that look at calls and decide about them, as a piece of the program of their own: they never ask a provider.

import type { CommandModule } from "../load.ts";

export { pipedBeside } from "../io/piped_document.ts";

export const MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "status": () => import("../conversation/many/status.ts"),
  "approve": () => import("../document/approve.ts"),
  "reject": () => import("../document/reject.ts"),
};
