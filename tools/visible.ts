// Makes text safe to show: what a terminal would act on, reorder or hide becomes a visible escape (S5).

// An emoji may keep its joiners and variation selectors; anywhere else they only hide things.
const HIDDEN =
  /\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?(?:\u200d\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?)+|\p{Extended_Pictographic}\ufe0f|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const PLAIN = /^[\x20-\x7e]*$/;
const PICTURE = /^\p{Extended_Pictographic}/u;

const SHORT: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Which characters that move the cursor stay as they are. */
export interface VisibleOptions {
  /** Keep LF and tab, for text of several lines. @default false */
  readonly lines?: boolean;
}

/**
 * The text with control characters, escape sequences, bidirectional controls, zero-width characters and lone
 * surrogates written as `\x1b`, `\u202e`, `\u{e0041}`. The answer has no effect on a terminal but its glyphs.
 * Idempotent.
 */
export function visible(text: string, options: VisibleOptions = {}): string {
  if (PLAIN.test(text)) return text;
  return text.replace(HIDDEN, (found) => {
    if (options.lines && (found === "\n" || found === "\t")) return found;
    return PICTURE.test(found) ? found : escapeCharacter(found);
  });
}

function escapeCharacter(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
}
