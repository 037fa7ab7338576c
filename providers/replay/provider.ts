// A replay server as a provider, for runs in which a script takes the place of the model.

import { anthropic } from "../anthropic/provider.ts";
import type { Replay } from "./server.ts";
import type { Provider } from "../types.ts";

/**
 * Creates the provider for a replay server. It takes no key, and settings and environment variables cannot redirect its
 * requests.
 *
 * ```ts
 * import { chatInMemory, replayProvider, startReplay } from "flemma";
 *
 * await using replay = await startReplay({ replies: [{ reply: [{ text: "Hello!" }] }] });
 * const opened = await chatInMemory(new TextEncoder().encode("@You:\nHi\n"), {
 *   provider: replayProvider(replay),
 * });
 * if (opened.ok) console.log((await opened.value.advance()).reason); // done
 * ```
 *
 * @param replay the server
 * @returns the provider; usable as long as the server runs
 */
export function replayProvider(replay: Replay): Provider {
  return {
    ...anthropic,
    name: "replay",
    display: "The replay",
    defaultBaseUrl: replay.url,
    keyVariables: [],
    buildRequest: (input) => anthropic.buildRequest({ ...input, baseUrl: replay.url }),
  };
}
