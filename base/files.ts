// What every room does with files: looking whether one is there, writing one whole.

/** Whether anything stands at a path. */
export function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) return false;
    throw thrown;
  }
}
