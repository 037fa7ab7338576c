// The command line as the agent's host: its environment, its options as a layer of settings, its words for a person.

import type { Host } from "../agent/types.ts";
import type { Invocation } from "./invocation.ts";
import { switchOption } from "./line/options.ts";
import { settingsOf } from "./line/overrides.ts";

export function hostOf({ arguments: given, environment, messages }: Invocation): Host {
  return {
    environment,
    load: (document) => settingsOf(given, environment, document),
    print: (line) => messages.note(line),
    stream: switchOption(given, "stream") !== false,
  };
}
