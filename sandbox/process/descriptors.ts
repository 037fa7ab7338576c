// Keeps open files that this program inherited away from child processes.

import { failure, type Outcome, success } from "../../base/problem.ts";

/** Folder that contains a file with the flags of each open descriptor. */
const DESCRIPTORS = "/proc/self/fdinfo";

const LAST_STANDARD = 2;
const O_CLOEXEC = 0o2000000;
const F_SETFD = 2;
const FD_CLOEXEC = 1;

let done: Outcome<void> | undefined;

/**
 * Sets close-on-exec on inherited descriptors. An editor, a terminal or a shell may have left a folder or a file open.
 * Through an open folder outside the mounts, a command could write anywhere. Deno sets the flag on files that it opens
 * itself, so one call is enough.
 *
 * Fails with `descriptors-inherited`. Does nothing on systems other than Linux.
 */
export function keepDescriptors(): Outcome<void> {
  return done ??= Deno.build.os === "linux" ? mark(inherited()) : success(undefined);
}

/** Returns the descriptors that a child process would inherit, except the three standard ones. */
function inherited(): number[] {
  const found: number[] = [];
  for (const { name } of Deno.readDirSync(DESCRIPTORS)) {
    const descriptor = Number(name);
    if (descriptor <= LAST_STANDARD) continue;
    let info: string;
    try {
      info = Deno.readTextFileSync(`${DESCRIPTORS}/${name}`);
    } catch (thrown) {
      // The descriptor of the listing itself is closed.
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
    // The system library cannot be used. The descriptors then stay open, which is reported below.
  }
  return left.length === 0 ? success(undefined) : failure(
    "descriptors-inherited",
    `The program was started with open files that commands would inherit (descriptors ${left.join(", ")}).`,
    "Start it from an ordinary terminal.",
  );
}
