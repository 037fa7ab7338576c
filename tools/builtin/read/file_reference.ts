// File references that `read` returns for binary files, and the escape for text that only looks like one.

/**
 * Matches a whole text that a reader would take for a file reference, or for an escaped one. Escaping an escaped
 * reference adds another backslash, so that removing one backslash restores every text.
 */
const REFERENCE = /^\\*@(?:\.{1,2}\/|~\/|\/\/)\S+$/;

/**
 * Returns the reference to a file, as the only line of a result. `path` is what the model wrote. Absolute, home and
 * explicitly relative forms stay; any other path is relative to the document's folder.
 */
export function fileReference(path: string, type: string): string {
  const anchored = path.startsWith("/") ? `/${path}` : /^(?:~|\.{1,2})\//.test(path) ? path : `./${path}`;
  return `@${encode(anchored)};type=${type}`;
}

/** Escapes white space, characters with a special meaning in a reference, and `+`, which would be read as a space. */
function encode(path: string): string {
  return path.replace(/[\s#%?;+]/g, (character) => encodeURIComponent(character));
}

/** Puts a backslash before text that is one line in the form of a reference, so that it stays text. */
export function escapeReference(text: string): string {
  return REFERENCE.test(text) ? `\\${text}` : text;
}
