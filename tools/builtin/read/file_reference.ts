// File references as `read` writes them for binary files, and the escape for text that only looks like one (S8).

/**
 * A whole text that a reader would take for a file reference (chat-format 9.1), or for an escaped one: that gains
 * a backslash too, so that taking one off gives back every text as it was.
 */
const REFERENCE = /^\\*@(?:\.{1,2}\/|~\/|\/\/)\S+$/;

/**
 * The reference to a file as the one line of a result. `path` is what the model wrote; absolute, home and
 * explicitly relative forms stay what they are, any other is relative to the document's folder.
 */
export function fileReference(path: string, type: string): string {
  const anchored = path.startsWith("/") ? `/${path}` : /^(?:~|\.{1,2})\//.test(path) ? path : `./${path}`;
  return `@${encode(anchored)};type=${type}`;
}

/** White space and the characters with a meaning of their own; `+` too, because it is read as a space. */
function encode(path: string): string {
  return path.replace(/[\s#%?;+]/g, (character) => encodeURIComponent(character));
}

/** Text that is one line in the form of a reference gets a backslash before it, so that it stays text. */
export function escapeReference(text: string): string {
  return REFERENCE.test(text) ? `\\${text}` : text;
}
