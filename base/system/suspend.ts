// Handles Ctrl-Z in raw terminal mode, where the program has to stop itself.

import { after } from "./timer.ts";

/** Milliseconds after which no shell is assumed to have stopped this process. */
const SOON = 200;

/**
 * Stops the process group, for the shell that waits for it, and returns when the shell continues it. Returns after a
 * short time without such a shell, as in a terminal that runs only one program.
 */
export async function suspend(): Promise<void> {
  if (Deno.build.os === "windows") return;
  const goesOn = Promise.withResolvers<void>();
  Deno.addSignalListener("SIGCONT", goesOn.resolve);
  const forget = after(SOON, goesOn.resolve);
  try {
    // 0 is the whole group: a wrapper that started this program for the shell must stop with it.
    Deno.kill(0, "SIGTSTP");
    await goesOn.promise;
  } finally {
    forget();
    Deno.removeSignalListener("SIGCONT", goesOn.resolve);
  }
}
