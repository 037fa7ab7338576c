// Formats how a document's tools are confined, for people.

import type { Confinement } from "../../agent/views/confinement.ts";
import { renderStatus } from "../../sandbox/mod.ts";

/** One fact per line. */
export function renderConfinement({ status, enabledBy, obstacle, withheld }: Confinement): string {
  const approval = obstacle === null ? "bash runs without asking" : `bash asks first: ${obstacle}`;
  const names = withheld.length === 0 ? "none of the current variables" : withheld.join(", ");
  return `${renderStatus(status)}withheld  ${names}\nset by    ${enabledBy}\napproval  ${approval}\n`;
}
