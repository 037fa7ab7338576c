// Shell words for the commands that messages suggest.

/** Returns the word, quoted if a POSIX shell would otherwise change its meaning. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Quotes files and ids as arguments of a flemma command. Ids come from a model, and an id such as `--all` must not
 * become an option when a person types a suggested command.
 */
export function operands(...words: readonly string[]): string {
  const first = words.findIndex((word) => word.startsWith("-") && word !== "-");
  const quoted = words.map(shellWord);
  return (first < 0 ? quoted : quoted.toSpliced(first, 0, "--")).join(" ");
}

/**
 * Returns an option with its value. A value that begins with a dash is joined with `=`, so that it is not read as
 * another option.
 */
export function option(name: string, value: string): string {
  return value.startsWith("-") ? `${name}=${shellWord(value)}` : `${name} ${shellWord(value)}`;
}
