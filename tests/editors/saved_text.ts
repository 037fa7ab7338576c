// The texts that a server saves while a reply arrives.

import { readOrNull } from "../../base/files.ts";
import type { Scene } from "../cli/harness.ts";

/** The saved texts, by path. */
export function savedFiles(place: Scene): string[] {
  const folder = `${place.folder}/state/flemma/recover`;
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return [];
    throw thrown;
  }
}

/** Waits until a saved text contains a part of the reply. */
export async function savedText(place: Scene, part: string): Promise<void> {
  const has = async () => {
    // A saved text goes when its reply is complete.
    const texts = await Promise.all(savedFiles(place).map((path) => readOrNull(path)));
    return texts.some((bytes) => bytes !== null && new TextDecoder().decode(bytes).includes(part));
  };
  while (!await has()) await new Promise((done) => setTimeout(done, 5));
}
