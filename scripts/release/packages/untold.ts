// Shell lines that every launcher script needs, for conditions that keep Deno from starting and about which Deno's own
// report is unclear.

const LAUNCHER = new URL("../../build/npm/flemma.bin", import.meta.url);

/** The lines, from the script of the npm package. */
export const UNREPORTED: string = linesOf(Deno.readTextFileSync(LAUNCHER));

function linesOf(script: string): string {
  const [lines] = /^# --- what Deno does not tell ---\n[^]*?^# --- end ---\n/m.exec(script) ?? [];
  if (lines === undefined) throw new Error(`${LAUNCHER.pathname} has no lines about what Deno does not tell`);
  return lines;
}
