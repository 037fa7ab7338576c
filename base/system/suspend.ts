// Handles Ctrl-Z in raw terminal mode, where the program has to stop itself.

import { after } from "./timer.ts";

/** Milliseconds after which it is assumed that no shell has stopped this process. */
const SOON = 200;

/**
 * Stops the process group, because the shell waits for it, and returns when the shell continues it. If there is no
 * such shell, as in a terminal that runs only one program, it returns after a short time.
 */
export async function suspend(): Promise<void> {
  if (Deno.build.os === "windows") return;
  const goesOn = Promise.withResolvers<void>();
  Deno.addSignalListener("SIGCONT", goesOn.resolve);
  const forget = after(SOON, goesOn.resolve);
  try {
    // The number 0 means the whole group, because a wrapper that started this program for the shell must stop with it.
    Deno.kill(0, "SIGTSTP");
    await goesOn.promise;
  } finally {
    forget();
    Deno.removeSignalListener("SIGCONT", goesOn.resolve);
  }
}
