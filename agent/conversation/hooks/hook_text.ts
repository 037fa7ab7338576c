// The text of hooks in a document: limits, and the line that says which hook it comes from.

/** Maximum characters of the text of one hook. */
const MOST_CHARACTERS = 10_000;
/** Maximum characters of the texts of all hooks of one event. */
const MOST_TOGETHER = 30_000;

/** A text of a hook. */
export interface HookText {
  readonly name: string;
  readonly code: number;
  readonly text: string;
}

/** Shortens a text, with a line that says so. A NUL byte would make the document unreadable. */
export function cutText(text: string, most: number = MOST_CHARACTERS): string {
  const safe = text.replaceAll("\0", "\uFFFD").replaceAll("\r", "");
  if (safe.length <= most) return safe;
  // Not between the two halves of a character.
  const end = /[\uD800-\uDBFF]/.test(safe[most - 1]!) ? most - 1 : most;
  return `${safe.slice(0, end)}\n[cut: ${safe.length - end} more characters]`;
}

/** Joins the texts of hooks, each below a line with its hook. */
export function joinHookTexts(texts: readonly HookText[]): string {
  const joined = texts.map(({ name, code, text }) => {
    const head = code === 0 ? `[hook ${name}]` : `[hook ${name}, exit ${code}]`;
    return text === "" ? head : `${head}\n${text}`;
  }).join("\n\n");
  return cutText(joined, MOST_TOGETHER);
}
