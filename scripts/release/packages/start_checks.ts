// Shell lines of every launcher: they report conditions in which Deno does not start and gives no clear message.

const LAUNCHER = new URL("../../build/npm/flemma.bin", import.meta.url);

/** The lines, from the script of the npm package. */
export const START_CHECKS: string = linesOf(Deno.readTextFileSync(LAUNCHER));

function linesOf(script: string): string {
  const [lines] = /^# --- checks before Deno starts ---\n[^]*?^# --- end ---\n/m.exec(script) ?? [];
  if (lines === undefined) throw new Error(`${LAUNCHER.pathname} has no checks before Deno starts`);
  return lines;
}
