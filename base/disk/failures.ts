// Failures of work on files that are told as whole sentences; the path stands in them as the model wrote it.

import { thrownText } from "../problem.ts";

/** A failure whose message is a whole sentence already. */
export class FileFailure extends Error {}

/** Thrown where a folder or file is not the one that was judged, or is reached through a link by now. */
export class Exchanged extends Error {
  constructor(path: string) {
    super(`${path} was exchanged for something else meanwhile`);
  }

  /** One that was thrown in another process. */
  static saying(message: string): Exchanged {
    const exchanged = new Exchanged("");
    exchanged.message = message;
    return exchanged;
  }
}

/** What is said of a folder where a file is wanted. */
export function folderSentence(path: string): string {
  return `${path} is a folder.`;
}

/** Also where no sandbox says so: they are switches of the kernel, and what they hold is no text of anybody. */
export function systemSentence(shown: string): string {
  return `Sandbox: ${shown} is a file of the system; tools leave these alone.`;
}

/** A failure as plain data, for another process. */
export interface PackedError {
  readonly name: string;
  readonly message: string;
}

/** Makes data of what was thrown. */
export function packError(thrown: unknown): PackedError {
  if (thrown instanceof FileFailure) return { name: "FileFailure", message: thrown.message };
  if (thrown instanceof Exchanged) return { name: "Exchanged", message: thrown.message };
  return { name: thrown instanceof Error ? thrown.name : "Error", message: thrownText(thrown) };
}

/** What was thrown, from data; errors of the system are of their own kinds again. */
export function unpackError({ name, message }: PackedError): Error {
  if (name === "FileFailure") return new FileFailure(message);
  if (name === "Exchanged") return Exchanged.saying(message);
  const kind = Object.hasOwn(Deno.errors, name) ? Deno.errors[name as keyof typeof Deno.errors] : Error;
  return new kind(message);
}
