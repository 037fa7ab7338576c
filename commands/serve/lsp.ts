// `flemma lsp`: a language server on standard input and output.

import { serveEditor } from "../../editors/lsp/server.ts";
import type { Invocation } from "../invocation.ts";
import { ending, writeOn } from "./streams.ts";
import { VERSION } from "../version.ts";

export async function run({ environment }: Invocation): Promise<number> {
  const { signal, dispose } = ending();
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
