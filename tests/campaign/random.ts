// Repeatable randomness: a campaign prints its seed, and the same seed makes the same choices.

export interface Chance {
  /** A whole number from 0 up to, not including, `below`. */
  below(below: number): number;
  pick<T>(values: readonly T[]): T;
}

/** Numbers by xorshift from a seed. */
export function chance(seed: number): Chance {
  let state = (seed * 2654435761 + 1) >>> 0 || 1;
  const below = (limit: number) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % limit;
  };
  return { below, pick: (values) => values[below(values.length)]! };
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** How editors write a file. */
export const HABITS: Readonly<Record<string, (path: string, text: string) => Promise<void>>> = {
  "written over": (path, text) => Deno.writeTextFile(path, text),
  "emptied, then written in pieces": async (path, text) => {
    using file = await Deno.open(path, { write: true, truncate: true });
    const bytes = new TextEncoder().encode(text);
    await pause(1);
    const half = bytes.length >> 1;
    for (const piece of [bytes.subarray(0, half), bytes.subarray(half)]) {
      for (let at = 0; at < piece.length;) at += await file.write(piece.subarray(at));
    }
  },
  "replaced by a rename": async (path, text) => {
    await Deno.writeTextFile(`${path}.new~`, text);
    await Deno.rename(`${path}.new~`, path);
  },
  "renamed to a backup, then written": async (path, text) => {
    await Deno.rename(path, `${path}~`);
    await Deno.writeTextFile(path, text);
    await Deno.remove(`${path}~`);
  },
};

/** Kills a process; false if it had ended in that very moment. */
export function isKilled(run: { kill(signal: Deno.Signal): void }): boolean {
  try {
    run.kill("SIGKILL");
    return true;
  } catch (thrown) {
    if (thrown instanceof TypeError) return false;
    throw thrown;
  }
}
