// A mark in the environment of a command, by which its descendants are known wherever they went: one that leads a session of
// its own and whose parent has ended is told from everybody else's processes by nothing but this.

/** The variable that holds the mark. */
export const MARK = "FLEMMA_COMMAND";

/** A mark that no other command has. */
export function newMark(): string {
  return crypto.randomUUID();
}

/**
 * The living processes with a mark, as far as this user may look; none on systems without `/proc`. What a command put into
 * the environment of somebody else's process cannot be seen here, for that is fixed when a program begins.
 */
export function marked(mark: string): number[] {
  if (Deno.build.os !== "linux") return [];
  const entry = `${MARK}=${mark}`;
  const found: number[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    if (environmentOf(name).includes(entry)) found.push(Number(name));
  }
  return found;
}

/** What a process was started with; empty when it has ended or belongs to somebody else. */
function environmentOf(pid: string): readonly string[] {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0");
  } catch {
    // Not ours to look into, and so not ours to end.
    return [];
  }
}
