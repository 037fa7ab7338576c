// The files that remain after flemma is removed, as docs/reference/install.md lists them.

import { ROOT } from "../../gate/root.ts";

/**
 * Returns a pattern for all paths in the page's table of files and folders.
 * @param places what the page calls `~`, `/tmp` or `$XDG_RUNTIME_DIR`, by that name
 */
export async function listedFiles(places: Readonly<Record<string, string>>): Promise<RegExp> {
  const page = await Deno.readTextFile(`${ROOT}/docs/reference/install.md`);
  const [, section = ""] = /^## Files and folders\n(.*?)^## /ms.exec(page) ?? [];
  const paths = section.split("\n").flatMap((row) =>
    [...(row.split(" | ")[1] ?? "").matchAll(/`([~/$][^`]*)`/g)].map(([, path]) => path!)
  );
  if (paths.length < 8) throw new Error("docs/reference/install.md has lost its table of files and folders.");
  const patterns = paths.map((path) => {
    const [name] = Object.keys(places).filter((name) => path.startsWith(name));
    const moved = name === undefined ? path : `${places[name]}${path.slice(name.length)}`;
    return moved.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/UID/, "\\d+").replace(/…/g, "[^/]*");
  });
  return new RegExp(`^(${patterns.join("|")})(/|$)`);
}
