// Makes the archive to unpack or serve: for a URL, for Homebrew, for users of Deno.

import { output } from "./run.ts";
import type { Staged } from "./stage.ts";

/**
 * Makes `flemma-VERSION.tar.gz` in a folder, with everything below `flemma-VERSION/`; returns its path. The same
 * content makes the same file.
 * @param epoch modification time of all files, in seconds since 1970
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
