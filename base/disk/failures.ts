// Failures of file operations with messages that are whole sentences, showing the path as the model wrote it.

import { thrownText } from "../problem.ts";

/** A failure whose message is a complete sentence. */
export class FileFailure extends Error {}

/** Thrown if a folder or file is not the one that was checked, or is now reached through a link. */
export class Exchanged extends Error {
  constructor(path: string) {
    super(`${path} was replaced during the operation`);
  }

  /** Recreates an exception that was thrown in another process. */
  static saying(message: string): Exchanged {
    const exchanged = new Exchanged("");
    exchanged.message = message;
    return exchanged;
  }
}

/** Returns the message for a folder where a file is expected. */
export function folderSentence(path: string): string {
  return `${path} is a folder.`;
}

/**
 * Returns the message for system files. The message applies without a sandbox too, because system files control the
 * kernel, and their content is not user text.
 */
export function systemSentence(shown: string): string {
  return `Sandbox: ${shown} is a system file, which tools may not use.`;
}

/** A failure as plain data, for another process. */
export interface PackedError {
  readonly name: string;
  readonly message: string;
}

/** Converts an exception to data. */
export function packError(thrown: unknown): PackedError {
  if (thrown instanceof FileFailure) return { name: "FileFailure", message: thrown.message };
  if (thrown instanceof Exchanged) return { name: "Exchanged", message: thrown.message };
  return { name: thrown instanceof Error ? thrown.name : "Error", message: thrownText(thrown) };
}

/** Converts data back to the exception, with the original kind for system errors. */
export function unpackError({ name, message }: PackedError): Error {
  if (name === "FileFailure") return new FileFailure(message);
  if (name === "Exchanged") return Exchanged.saying(message);
  const kind = Object.hasOwn(Deno.errors, name) ? Deno.errors[name as keyof typeof Deno.errors] : Error;
  return new kind(message);
}
