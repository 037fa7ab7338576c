// Tests that each run in a separate environment, such as a folder, a document or an editor, which `run` sets up and
// removes.

/** A function that defines a test by its name and what `run` takes, in most cases a body. */
export function testsWith<Args extends unknown[]>(
  run: (...args: Args) => Promise<void>,
): (name: string, ...args: Args) => void {
  return (name, ...args) => Deno.test(name, () => run(...args));
}
