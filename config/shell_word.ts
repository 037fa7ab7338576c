// Words as a person would have to type them, for the commands that messages suggest.

/** The word, quoted where a POSIX shell would otherwise read something else. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
