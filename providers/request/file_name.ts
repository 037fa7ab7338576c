// Names of files in requests: never the folders of this machine.

/**
 * Returns the name that a request uses for a file: the path as the document has it, or the last part of an absolute
 * one.
 */
export function requestName({ filename, path = filename }: {
  readonly filename: string;
  readonly path?: string;
}): string {
  return /^(?:\/|~|[A-Za-z]:)/.test(path) ? path.slice(path.lastIndexOf("/") + 1) : path;
}
