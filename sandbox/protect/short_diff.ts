// Shows the changed lines of a small text in a message.

/** Maximum number of lines that are shown. */
const MOST_LINES = 40;

/**
 * Returns the lines that only the old text has after `-`, and those that only the new text has after `+`, without equal
 * lines before and after them. Shows at most 40 lines and the number of the others.
 */
export function formatShortDiff(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const isLeft = () => end < old.length - start && end < now.length - start;
  while (isLeft() && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const lines = [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
  ];
  const more = lines.length - MOST_LINES;
  return (more > 0 ? [...lines.slice(0, MOST_LINES), `… ${more} more lines`] : lines).join("\n");
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
