// The archive that is unpacked or served as it is: for an address, for Homebrew, for whoever has Deno.

import { output } from "./run.ts";
import type { Staged } from "./stage.ts";

/**
 * Makes `flemma-VERSION.tar.gz` in a folder, with everything below `flemma-VERSION/`; answers its path. The same content
 * makes the same file.
 *
 * @param epoch seconds since 1970 that all files get
 */
export async function buildArchive(
  target: string,
  { folder, version }: Staged,
  epoch: number,
): Promise<string> {
  const name = `flemma-${version}`;
  const path = `${target}/${name}.tar.gz`;
  const tar = await output("tar", [
    ...["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go+r-w,a+X"],
    ...["--format=ustar", `--mtime=@${epoch}`, `--transform=s,^\\.,${name},`, "--directory", folder, "."],
  ]);
  const place = `${target}/${name}.tar`;
  await Deno.writeFile(place, tar);
  await Deno.writeFile(path, await output("gzip", ["-9", "-n", "-c", place]));
  await Deno.remove(place);
  return path;
}
