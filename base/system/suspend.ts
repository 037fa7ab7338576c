// Ctrl-Z where a terminal hands every key to the program, which has to stop itself then.

import { after } from "./timer.ts";

/** Milliseconds after which nobody has stopped this process: no shell of its terminal waits for it. */
const SOON = 200;

/**
 * Stops everything that was started together with this process, for the shell that waits for it, and comes back when that
 * lets it go on. Comes back at once where no shell does, as in a terminal of one program alone.
 */
export async function suspend(): Promise<void> {
  if (Deno.build.os === "windows") return;
  const goesOn = Promise.withResolvers<void>();
  Deno.addSignalListener("SIGCONT", goesOn.resolve);
  const forget = after(SOON, goesOn.resolve);
  try {
    // 0 is the whole group: whoever started this program for the shell has to stop with it.
    Deno.kill(0, "SIGTSTP");
    await goesOn.promise;
  } finally {
    forget();
    Deno.removeSignalListener("SIGCONT", goesOn.resolve);
  }
}
