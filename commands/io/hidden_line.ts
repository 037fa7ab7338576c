// Reads a line from the terminal without showing it.

import { suspend } from "../../base/system/suspend.ts";
import { writeError } from "./streams.ts";

const CTRL_C = 3;
const CTRL_D = 4;
const CTRL_U = 21;
const CTRL_Z = 26;
const BACKSPACES: readonly number[] = [8, 127];
const LINE_ENDS: readonly number[] = [10, 13];

/**
 * Returns the typed line; null after Ctrl-C, or after Ctrl-D on an empty line. Throws if the terminal cannot be read.
 */
export async function readHidden(prompt: string): Promise<string | null> {
  // Raw mode starts before the prompt. Otherwise the first keys of a fast typist would show.
  Deno.stdin.setRaw(true);
  try {
    writeError(prompt);
    return await readLine(prompt);
  } finally {
    Deno.stdin.setRaw(false);
    writeError("\n");
  }
}

async function readLine(prompt: string): Promise<string | null> {
  const typed: number[] = [];
  const piece = new Uint8Array(1024);
  for (;;) {
    const count = await Deno.stdin.read(piece);
    if (count === null) return null;
    for (const byte of piece.subarray(0, count)) {
      if (byte === CTRL_C || (byte === CTRL_D && typed.length === 0)) return null;
      if (byte === CTRL_D || LINE_ENDS.includes(byte)) return new TextDecoder().decode(new Uint8Array(typed));
      if (byte === CTRL_Z) {
        Deno.stdin.setRaw(false);
        await suspend();
        Deno.stdin.setRaw(true);
        writeError(`\n${prompt}`);
      } else if (byte === CTRL_U) typed.length = 0;
      else if (BACKSPACES.includes(byte)) typed.pop();
      else typed.push(byte);
    }
  }
}
