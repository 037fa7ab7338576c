// A folder for tests that run the whole program.

/**
 * A fresh, empty, real folder. It lies outside of `/tmp`, which every sandbox makes writable: there, what is refused and
 * what is allowed would look the same.
 */
export async function freshFolder(prefix: string): Promise<string> {
  return await Deno.makeTempDir({ dir: await Deno.realPath("/var/tmp"), prefix });
}
