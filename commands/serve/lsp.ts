// `flemma lsp`: a language server on standard input and output.

import { serveEditor } from "../../editors/lsp/server.ts";
import type { Invocation } from "../invocation.ts";
import { listenForEnd, writeOn } from "./streams.ts";
import { VERSION } from "../line/version.ts";

export async function run({ environment, messages }: Invocation): Promise<number> {
  if (Deno.stdin.isTerminal()) {
    messages.note(
      "flemma: Waiting for an editor on standard input. To set one up, see docs/reference/language-server.md.",
    );
  }
  const { signal, dispose } = listenForEnd();
  try {
    return await serveEditor({
      input: Deno.stdin.readable,
      write: writeOn(Deno.stdout),
      environment,
      version: VERSION,
      signal,
    });
  } finally {
    dispose();
  }
}
