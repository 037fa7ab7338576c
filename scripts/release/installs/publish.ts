// Packs the package with npm as it would be published, under its own version or another one.

import type { Publication } from "./registry.ts";

/**
 * Packs a folder with npm.
 * @param folder a package, as built; it is restored when the promise settles
 * @param version another version to use, for testing an upgrade
 */
export async function publicationOf(folder: string, version?: string): Promise<Publication> {
  const manifest = JSON.parse(await Deno.readTextFile(`${folder}/package.json`));
  if (version === undefined) return { manifest, archive: await packed(folder) };
  const kept = new Map<string, string>();
  try {
    for (const file of ["package.json", "lib/flemma.js"]) {
      const text = await Deno.readTextFile(`${folder}/${file}`);
      const changed = text.replace(
        new RegExp(`(version"?: ?)"${manifest.version.replaceAll(".", "\\.")}"`),
        (_, before) => `${before}"${version}"`,
      );
      if (changed === text) throw new Error(`${file} does not contain its version`);
      kept.set(file, text);
      await Deno.writeTextFile(`${folder}/${file}`, changed);
    }
    return { manifest: { ...manifest, version }, archive: await packed(folder) };
  } finally {
    for (const [file, text] of kept) await Deno.writeTextFile(`${folder}/${file}`, text);
  }
}

/** Returns the archive that `npm pack` makes of a folder. */
async function packed(folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const place = await Deno.makeTempDir({ prefix: "flemma-pack-" });
  try {
    const { success, stdout, stderr } = await new Deno.Command("npm", {
      args: ["pack", "--silent", "--pack-destination", place, folder],
    }).output();
    if (!success) throw new Error(`npm pack failed: ${new TextDecoder().decode(stderr)}`);
    return await Deno.readFile(`${place}/${new TextDecoder().decode(stdout).trim()}`);
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}
