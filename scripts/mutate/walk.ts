// Lists the files below a folder.

/** Lists paths of the files with this ending, sorted by folder. */
export async function* walk(folder: string, ending: string): AsyncGenerator<string> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  for (const { name, isDirectory } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* walk(path, ending);
    else if (name.endsWith(ending)) yield path;
  }
}
