// Open files that this program was started with and does not know of: no child may have them (sandbox 12.8).

import { failure, type Outcome, success } from "../../base/problem.ts";

/** Each open descriptor has a file here that tells its flags. */
const DESCRIPTORS = "/proc/self/fdinfo";

const LAST_STANDARD = 2;
const O_CLOEXEC = 0o2000000;
const F_SETFD = 2;
const FD_CLOEXEC = 1;

let done: Outcome<void> | undefined;

/**
 * Marks what was inherited so that it ends where another program begins. An editor, a terminal or a shell may have left
 * a folder or a file of its own open; through a folder from outside the mounts a command could write anywhere. This
 * runtime marks what it opens itself, so it is enough to do this once.
 *
 * Fails with `descriptors-inherited`. Elsewhere than on Linux nothing is done.
 */
export function keepDescriptors(): Outcome<void> {
  return done ??= Deno.build.os === "linux" ? mark(inherited()) : success(undefined);
}

/** Descriptors beyond the standard ones that a child would get. */
function inherited(): number[] {
  const found: number[] = [];
  for (const { name } of Deno.readDirSync(DESCRIPTORS)) {
    const descriptor = Number(name);
    if (descriptor <= LAST_STANDARD) continue;
    let info: string;
    try {
      info = Deno.readTextFileSync(`${DESCRIPTORS}/${name}`);
    } catch (thrown) {
      // The one the listing itself was made through is gone.
      if (thrown instanceof Deno.errors.NotFound) continue;
      throw thrown;
    }
    const [, flags = "0"] = /^flags:\s*([0-7]+)$/m.exec(info) ?? [];
    if ((parseInt(flags, 8) & O_CLOEXEC) === 0) found.push(descriptor);
  }
  return found;
}

function mark(descriptors: readonly number[]): Outcome<void> {
  if (descriptors.length === 0) return success(undefined);
  let left = descriptors;
  try {
    const library = Deno.dlopen("libc.so.6", {
      fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
    });
    left = descriptors.filter((descriptor) => library.symbols.fcntl(descriptor, F_SETFD, FD_CLOEXEC) !== 0);
    library.close();
  } catch {
    // Told below: all of them are left.
  }
  return left.length === 0 ? success(undefined) : failure(
    "descriptors-inherited",
    `This program was started with open files that commands would get (descriptors ${left.join(", ")}).`,
    "Start it from a plain terminal.",
  );
}
