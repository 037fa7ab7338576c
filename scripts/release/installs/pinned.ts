// npm programs for tests, installed once for all checkouts in pinned versions.

/**
 * Installs what a folder's `package.json` names, unless an earlier run did so, and returns the folder that contains
 * `node_modules`. Runs no scripts of packages.
 * @param source the folder with `package.json`, and a lock file if the packages have dependencies; with a final slash
 * @param name beginning of the folder's name in the cache
 * @throws if npm cannot install it
 */
export async function installPinned(source: URL, name: string): Promise<string> {
  const files = await filesIn(source);
  const cache = cacheFolder();
  const folder = await cachedInstallation(source, name);
  if (await isThere(`${folder}/node_modules`)) return folder;
  await Deno.mkdir(cache, { recursive: true });
  const fresh = await Deno.makeTempDir({ dir: cache });
  for (const [file, text] of files) await Deno.writeTextFile(`${fresh}/${file}`, text);
  // `npm ci` is not used, because it refuses a lock file that lacks packages for other systems, as some versions of
  // npm write it.
  const how = files.has("package-lock.json") ? ["install"] : ["install", "--no-package-lock"];
  const { success, stderr } = await new Deno.Command("npm", {
    args: [...how, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", fresh],
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) {
    await Deno.remove(fresh, { recursive: true });
    throw new Error(`npm cannot install ${name}: ${new TextDecoder().decode(stderr)}`);
  }
  // Another checkout may have installed the folder first.
  await Deno.rename(fresh, folder).catch(() => Deno.remove(fresh, { recursive: true }));
  return folder;
}

/** Returns the folder that `installPinned` installs into, whether it is there or not. */
export async function cachedInstallation(source: URL, name: string): Promise<string> {
  const texts = [...(await filesIn(source)).values()];
  return `${cacheFolder()}/${name}-${await hashOf(texts.sort().join("\0"))}`;
}

async function filesIn(source: URL): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for await (const entry of Deno.readDir(source)) {
    if (/^package(-lock)?\.json$/.test(entry.name)) {
      files.set(entry.name, await Deno.readTextFile(new URL(entry.name, source)));
    }
  }
  return files;
}

/**
 * Returns the URL of the registry that npm is configured to use, without a final slash.
 * @throws if npm does not return a URL
 */
export async function configuredRegistry(): Promise<string> {
  const { stdout, stderr } = await new Deno.Command("npm", { args: ["config", "get", "registry"] }).output();
  const address = new TextDecoder().decode(stdout).trim();
  if (!URL.canParse(address)) {
    throw new Error(`npm config get registry: ${address}${new TextDecoder().decode(stderr)}`);
  }
  return address.replace(/\/$/, "");
}

/** Returns the cache folder for downloads of tests. */
export function cacheFolder(): string {
  return `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/flemma-tests`;
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest, 0, 8).toHex();
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
