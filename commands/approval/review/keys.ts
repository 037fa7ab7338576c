// Keys as a dialogue understands them: one read of the terminal is one key, so that nothing that is pasted, and nothing
// that was typed ahead, decides about a call that nobody has seen.

import { own } from "../../../base/is_object.ts";

/** A key: a letter as it is, or the name of another key. */
export type Key = string;

/** Keys that say that the person has gone. */
export const INTERRUPT: Key = "ctrl-c";
export const END: Key = "ctrl-d";
/** What is no single key. */
const NONE: Key = "none";

const NAMED: Readonly<Record<string, Key>> = {
  "\x03": INTERRUPT,
  "\x04": END,
  "\r": "enter",
  "\n": "enter",
  " ": "space",
  "\x1b": "escape",
};

/** The key that a read of the terminal stands for. */
export function keyOf(bytes: Uint8Array): Key {
  const text = new TextDecoder().decode(bytes);
  const named = own(NAMED, text);
  if (named !== undefined) return named;
  const characters = [...text];
  // deno-lint-ignore no-control-regex
  return characters.length === 1 && !/[\x00-\x1f\x7f]/.test(text) ? text : NONE;
}

/** A line in the making. */
export interface TypedLine {
  readonly text: string;
  /** `typing` until the person ends or leaves it. */
  readonly state: "typing" | "done" | "left" | "gone";
}

/** The line after a read of the terminal. What follows its end in the same read is dropped. */
export function typed({ text }: TypedLine, bytes: Uint8Array): TypedLine {
  const read = new TextDecoder().decode(bytes);
  // Arrows and their like are no text.
  if (read.startsWith("\x1b") && read.length > 1) return { text, state: "typing" };
  let now = text;
  for (const character of read) {
    switch (character) {
      case "\r":
      case "\n":
        return { text: now, state: "done" };
      case "\x1b":
        return { text: now, state: "left" };
      case "\x03":
        return { text: now, state: "gone" };
      case "\x04":
        if (now === "") return { text: now, state: "left" };
        break;
      case "\x15":
        now = "";
        break;
      case "\x17":
        now = now.replace(/\S*\s*$/, "");
        break;
      case "\x08":
      case "\x7f":
        now = [...now].slice(0, -1).join("");
        break;
      default:
        // deno-lint-ignore no-control-regex
        if (!/[\x00-\x1f\x7f-\x9f]/.test(character)) now += character;
    }
  }
  return { text: now, state: "typing" };
}
