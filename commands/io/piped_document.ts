// Detects a document piped to a command that also names a FILE.

import type { Environment } from "../../base/environment.ts";
import { parse } from "../../parser/mod.ts";
import { isInEditor } from "./parent_editor.ts";
import { type Input, inputKind, peekInputFile, type StandardInput } from "./streams.ts";

/**
 * Milliseconds to wait for the first bytes of a buffer. They usually arrive before this process starts, so
 * only a pipe that stays open and empty takes the whole time.
 */
const WAIT = 1000;

/**
 * The document on standard input of a command that names a FILE, read completely; null if there is none. A
 * file that is not a document, such as the list of a `while read` loop, is left unread.
 */
export async function readPipedInput(environment: Environment, input: StandardInput): Promise<Input | null> {
  switch (inputKind()) {
    case "terminal":
    case "nothing":
      return null;
    case "file":
      return isDocument(peekInputFile()) ? input.read() : null;
    case "stream":
      return await streamBeside(environment, input);
  }
}

/**
 * Returns input from a pipe or socket. Only reading shows whether there is any input, so all bytes read are returned.
 */
async function streamBeside(environment: Environment, input: StandardInput): Promise<Input | null> {
  // A filter never writes to a terminal. So if the output is a terminal, a person works on the FILE there, and the pipe
  // belongs to another program.
  if (!isInEditor(environment) && Deno.stdout.isTerminal()) return null;
  return await input.comes(WAIT) ? input.read() : null;
}

/** True if bytes contain a turn, a tool result label or a flemma block. */
export function isDocument(bytes: Uint8Array): boolean {
  if (parse(bytes).turns.length > 0) return true;
  return /^(\*\*Tool Result:\*\*|`{3,}flemma:)/m.test(new TextDecoder().decode(bytes));
}
