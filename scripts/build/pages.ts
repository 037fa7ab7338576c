// The pages of every package: README, and all pages that README and other pages link to.

import { ROOT } from "../gate/root.ts";

/** Pages in the project's root folder. All pages in `docs` are included too. */
export const PAGES = ["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "NOTICES.md", "README.md", "SECURITY.md"];

/** Copies the pages into an existing folder. */
export async function copyPages(folder: string): Promise<void> {
  for (const page of PAGES) await Deno.copyFile(`${ROOT}/${page}`, `${folder}/${page}`);
  await copyFolder(`${ROOT}/docs`, `${folder}/docs`);
}

/** Copies a folder with everything in it. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    await (isDirectory ? copyFolder : Deno.copyFile)(`${from}/${name}`, `${to}/${name}`);
  }
}
