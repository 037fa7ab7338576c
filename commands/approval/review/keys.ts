// Translates terminal input to keys. One read is one key, so pasted text and text typed ahead cannot decide
// about a call that nobody has seen.

import { own } from "../../../base/is_object.ts";

/** A key: a character, or the name of another key. */
export type PressedKey = string;

/** Keys that end the dialogue. */
export const INTERRUPT: PressedKey = "ctrl-c";
export const END: PressedKey = "ctrl-d";
/** Key value for input that is not a single key. */
const NONE: PressedKey = "none";

const NAMED: Readonly<Record<string, PressedKey>> = {
  "\x03": INTERRUPT,
  "\x04": END,
  "\r": "enter",
  "\n": "enter",
  " ": "space",
  "\x1b": "escape",
};

/** Returns the key for the bytes of one read. */
export function readKey(bytes: Uint8Array): PressedKey {
  const text = new TextDecoder().decode(bytes);
  const named = own(NAMED, text);
  if (named !== undefined) return named;
  const characters = [...text];
  // deno-lint-ignore no-control-regex
  return characters.length === 1 && !/[\x00-\x1f\x7f]/.test(text) ? text : NONE;
}

export interface TypedLine {
  readonly text: string;
  /** `typing` until the line ends: with Enter (`done`), with Escape or Ctrl-D (`left`), or with Ctrl-C (`gone`). */
  readonly state: "typing" | "done" | "left" | "gone";
}

/** Returns the line after one read. Input after the end of the line in the same read is dropped. */
export function extendLine({ text }: TypedLine, bytes: Uint8Array): TypedLine {
  const read = new TextDecoder().decode(bytes);
  // Arrow keys and other escape sequences are not text.
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
