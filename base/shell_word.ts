// Words as a person would have to type them, for the commands that messages suggest.

/** The word, quoted where a POSIX shell would otherwise read something else. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Files and ids as arguments of one of our commands. Ids come from a model: one like `--all` must not become an option
 * when a person types what a message suggests.
 */
export function operands(...words: readonly string[]): string {
  const first = words.findIndex((word) => word.startsWith("-") && word !== "-");
  const quoted = words.map(shellWord);
  return (first < 0 ? quoted : quoted.toSpliced(first, 0, "--")).join(" ");
}

/** An option with its value, which may begin like one itself: behind `--` it would be no option any more. */
export function option(name: string, value: string): string {
  return value.startsWith("-") ? `${name}=${shellWord(value)}` : `${name} ${shellWord(value)}`;
}
