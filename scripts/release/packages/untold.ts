// What keeps Deno from starting and what it does not tell in our words: lines of shell that every script has which starts it.

const LAUNCHER = new URL("../../build/npm/flemma.bin", import.meta.url);

/** The lines, from the script of npm's package. */
export const UNREPORTED: string = linesOf(Deno.readTextFileSync(LAUNCHER));

function linesOf(script: string): string {
  const [lines] = /^# --- what Deno does not tell ---\n[^]*?^# --- end ---\n/m.exec(script) ?? [];
  if (lines === undefined) throw new Error(`${LAUNCHER.pathname} has no lines about what Deno does not tell`);
  return lines;
}
