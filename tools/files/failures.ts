// Failures of work on files that are told as whole sentences; the path stands in them as the model wrote it.

/** A failure whose message is a whole sentence already. */
export class FileFailure extends Error {}

/** What is said of a folder where a file is wanted. */
export function folderSentence(path: string): string {
  return `${path} is a folder.`;
}

/** Also where no sandbox says so: they are switches of the kernel, and what they hold is no text of anybody (S7). */
export function systemSentence(shown: string): string {
  return `Sandbox: ${shown} is a file of the system; tools leave these alone.`;
}
