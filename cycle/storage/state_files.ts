// Where a run keeps what does not belong into the document, and which paths its tools must not touch (cli 8, S11).

import { stateFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";

export { stateFolder };

/** Names one document in the state folder: 32 hexadecimal digits of the SHA-256 of its real path. */
export async function documentKey(realPath: string): Promise<string> {
  return (await sha256(realPath)).slice(0, 32);
}

/** A moment as it stands in file names: sortable, without characters a shell minds. */
export function timestamp(moment: Date): string {
  return moment.toISOString().replace(/[-:]/g, "").replace(".", "");
}
