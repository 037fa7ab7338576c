// Detects outdated pictures: a digest of each picture's sources is stored next to them.

import { sha256 } from "../../base/hash.ts";
import { ROOT } from "../gate/root.ts";
import { walk } from "../mutate/walk.ts";
import { FILES, replyFor, type Scene, SCENES, SETTINGS } from "./scenes.ts";

/** The folder of the pictures, and the file with the digests of their sources. */
export const PICTURES = "docs/pictures";
export const SOURCES = `${PICTURES}/sources.json`;

/** Returns the digest of everything that determines how a picture looks. */
export async function digestOf({ shows, start, ...scene }: Scene, root: string = ROOT): Promise<string> {
  const files: [string, string][] = [];
  for (const folder of [...shows, "scripts/pictures/svg.ts"]) {
    for await (const path of filesOf(`${root}/${folder}`)) {
      files.push([path.slice(root.length + 1), await Deno.readTextFile(path)]);
    }
  }
  const words = start.map((word) => word.replaceAll(ROOT, ""));
  const all = {
    ...scene,
    words,
    files: files.sort(([a], [b]) => a < b ? -1 : 1),
    FILES,
    reply: replyFor(scene),
    SETTINGS,
  };
  return (await sha256(JSON.stringify(all))).slice(0, 32);
}

async function* filesOf(path: string): AsyncGenerator<string> {
  if ((await Deno.stat(path)).isFile) yield path;
  else yield* walk(path, "");
}

/** Returns the pictures to make again, and those that no scene makes. */
export async function stalePictures(root: string = ROOT): Promise<string[]> {
  const known: Record<string, unknown> = JSON.parse(await Deno.readTextFile(`${root}/${SOURCES}`));
  const stale: string[] = [];
  for (const scene of SCENES) {
    const there = await Deno.stat(`${root}/${PICTURES}/${scene.name}.svg`).then(() => true, () => false);
    if (!there || known[scene.name] !== await digestOf(scene, root)) stale.push(scene.name);
  }
  for await (const { name } of Deno.readDir(`${root}/${PICTURES}`)) {
    const picture = name.endsWith(".svg") ? name.slice(0, -4) : null;
    if (picture !== null && !SCENES.some((scene) => scene.name === picture)) stale.push(picture);
  }
  return stale;
}
