// Tests that each run in a world of their own: a folder, a document, an editor, whatever `run` sets up and takes away.

/** A function that defines a test by its name and what `run` takes, in most cases a body. */
export function testsWith<Args extends unknown[]>(
  run: (...args: Args) => Promise<void>,
): (name: string, ...args: Args) => void {
  return (name, ...args) => Deno.test(name, () => run(...args));
}
