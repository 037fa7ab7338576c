// Makes text safe to show: replaces what a terminal would act on, reorder or hide with visible escapes.

/**
 * Matches hidden characters. An emoji may keep its joiners and variation selectors; in other text they only hide
 * things. Created on first use, because compiling these classes takes several milliseconds at each start of the
 * program.
 */
const hidden = () =>
  /\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?(?:\u200d\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?)+|\p{Extended_Pictographic}\ufe0f|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const isPicture = (text: string) => /^\p{Extended_Pictographic}/u.test(text);
const PLAIN = /^[\x20-\x7e]*$/;
const PLAIN_LINES = /^[\x20-\x7e\t\n]*$/;

const SHORT: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Options that say which control characters are kept. */
export interface VisibleOptions {
  /** True to keep LF and tab, for multi-line text. @default false */
  readonly lines?: boolean;
}

/**
 * Returns the text with control characters, escape sequences, bidirectional controls, zero-width characters and lone
 * surrogates written as `\x1b`, `\u202e`, `\u{e0041}`. The result only shows glyphs in a terminal, without other
 * effects. Applying it twice gives the same result.
 */
export function visible(text: string, options: VisibleOptions = {}): string {
  return withoutHidden(text, escapeCharacter, options);
}

/**
 * Returns the text with each hidden or control character replaced by the result of `written`, for formats that have
 * their own escapes.
 */
export function withoutHidden(
  text: string,
  written: (character: string) => string,
  options: VisibleOptions = {},
): string {
  if ((options.lines ? PLAIN_LINES : PLAIN).test(text)) return text;
  return text.replace(hidden(), (found) => {
    if (options.lines && (found === "\n" || found === "\t")) return found;
    return isPicture(found) ? found : written(found);
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
