// Whether a document was piped to a command that names a FILE as well.

import type { Environment } from "../../base/environment.ts";
import { parse } from "../../parser/mod.ts";
import { editorAround } from "./parent_editor.ts";
import { type Input, inputKind, peekInputFile, type StandardInput } from "./streams.ts";

/**
 * Milliseconds for the first bytes of a buffer. They are there before this process is, unless the machine is very busy;
 * only a pipe that its owner keeps open and empty is waited for in vain.
 */
const WAIT = 1000;

/**
 * The document that came on standard input beside a FILE, read to its end; null when none did. A file that is no
 * document (the list that a `while read` loop works through) stays unread.
 */
export async function pipedBeside(environment: Environment, input: StandardInput): Promise<Input | null> {
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

/** What a pipe or socket brings. Reading is the only way to know, so whatever came is given back. */
async function streamBeside(environment: Environment, input: StandardInput): Promise<Input | null> {
  // A filter's output never goes to a terminal: then a person works on the FILE, and the pipe is somebody else's.
  if (!editorAround(environment) && Deno.stdout.isTerminal()) return null;
  return await input.comes(WAIT) ? input.read() : null;
}

/** Whether a text is a document or a piece of one. */
export function isDocument(bytes: Uint8Array): boolean {
  if (parse(bytes).turns.length > 0) return true;
  return /^(\*\*Tool Result:\*\*|`{3,}flemma:)/m.test(new TextDecoder().decode(bytes));
}
