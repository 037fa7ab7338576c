// A bundle at a URL. The parts of one version are in a folder that no other version has.

import manifest from "../../deno.json" with { type: "json" };

/**
 * Renames the folder of a bundle's parts after its version and the hash of its content, so that the first file of one
 * version, in a cache or on a server, can never load a part of another. Returns the new name.
 * @param target the first file of the bundle, `PLACE/NAME.js`
 */
export async function versioned(target: string): Promise<string> {
  const folder = target.replace(/\.js$/, "");
  const name = folder.slice(folder.lastIndexOf("/") + 1);
  const first = await Deno.readTextFile(target);
  const parts = Array.from(Deno.readDirSync(folder), (entry) => entry.name).sort();
  const texts = [first, ...await Promise.all(parts.map((part) => Deno.readTextFile(`${folder}/${part}`)))];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(texts.join("\0")));
  const hash = Array.from(new Uint8Array(digest).slice(0, 6), (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  const unique = `${name}-${manifest.version}-${hash}`;
  await Deno.writeTextFile(target, first.replaceAll(`"./${name}/`, `"./${unique}/`));
  await Deno.rename(folder, `${folder.slice(0, -name.length)}${unique}`);
  return unique;
}
