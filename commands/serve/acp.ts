// `flemma acp`: an agent for editors that use the Agent Client Protocol, on standard input and output.

import { serveAgent } from "../../editors/acp/agent.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { VERSION } from "../line/version.ts";
import { listenForEnd, writeOn } from "./streams.ts";

export async function run({ environment, messages }: Invocation): Promise<number> {
  if (Deno.stdin.isTerminal()) {
    messages.note(
      "flemma: Waiting for an editor on standard input. To set one up, see docs/reference/agent-client-protocol.md.",
    );
  }
  const { signal, dispose } = listenForEnd();
  try {
    const log = (line: string) => messages.note(`flemma: ${line}`);
    await serveAgent({
      input: Deno.stdin.readable,
      write: writeOn(Deno.stdout),
      environment,
      version: VERSION,
      log,
      signal,
    });
    return Exit.ok;
  } finally {
    dispose();
  }
}
