// The texts that a server saves while a reply arrives.

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
  while (!savedFiles(place).some((path) => Deno.readTextFileSync(path).includes(part))) {
    await new Promise((done) => setTimeout(done, 5));
  }
}
