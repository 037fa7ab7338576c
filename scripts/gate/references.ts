// Finds references to numbered pages and lists that are not in the repository.

const PAGES =
  "chat-format|tool-cycle|frontmatter-config|long-work|providers-20\\d\\d-\\d\\d|providers|cli|editors|approval|tools|sandbox|safety";

const REFERENCES: readonly RegExp[] = [
  // Matches "(S17)" and "(known fault 70)", in a comment or behind the name of a test.
  /\((?:[A-Z]\d{1,2}|known faults? \d[^)]*)\)/,
  // Matches "// A6: …" and "fault 13: …".
  /(?:\/\/ |["`])(?:(?:known )?faults? \d+[^:"`]*|[A-Z]\d{1,2}): /i,
  // Matches "tool-cycle 5.4", "cli section 9", "(tools 7.4)".
  new RegExp(`\\b(?:${PAGES}) (?:section \\d|\\d+\\.\\d)|\\((?:${PAGES}) S?\\d`),
];

/** Returns the lines of a text that refer to such a page, each as `PATH:LINE: TEXT`. */
export function referencesIn(path: string, text: string): string[] {
  return text.split("\n").flatMap((line, at) =>
    REFERENCES.some((reference) => reference.test(line)) ? [`${path}:${at + 1}: ${line.trim()}`] : []
  );
}
