// Asks the kernel for the version of Landlock.

import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { ARCHITECTURES } from "./seccomp.ts";

const LANDLOCK_CREATE = 444n;
const ASK_VERSION = 1n;
const ENOSYS = 38;

let version: Outcome<number> | undefined;

/** The version of the kernel's interface. Fails if the kernel has none, or if this machine cannot start the launcher. */
export function landlockVersion(): Outcome<number> {
  return version ??= askVersion();
}

function askVersion(): Outcome<number> {
  if (Deno.build.os !== "linux" || !Object.hasOwn(ARCHITECTURES, Deno.build.arch)) {
    return failure("other-system", "Landlock is available on Linux for x86_64 and aarch64 only.");
  }
  try {
    const library = Deno.dlopen("libc.so.6", {
      syscall: { parameters: ["i64", "i64", "i64", "i64"], result: "i64" },
      __errno_location: { parameters: [], result: "pointer" },
    });
    const answer = Number(library.symbols.syscall(LANDLOCK_CREATE, 0n, 0n, ASK_VERSION));
    const errno = new Deno.UnsafePointerView(library.symbols.__errno_location()!).getInt32();
    if (answer > 0) return success(answer);
    return errno === ENOSYS
      ? failure("landlock-missing", "This kernel has no Landlock.", "Use Linux 5.19 or later, built with it.")
      : failure(
        "landlock-missing",
        "Landlock is switched off on this machine.",
        "Start the kernel with landlock in its list of security modules (lsm=landlock,…).",
      );
  } catch (thrown) {
    return failure("landlock-missing", `The C library cannot be used: ${thrownText(thrown)}`);
  }
}
