// Builds the agent's host options from the command line: environment, settings layer, output for a person.

import type { SettingsHost } from "../../agent/settings.ts";
import type { ChatOptions } from "../../agent/types.ts";
import { type Outcome, success } from "../../base/problem.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { readOverrides } from "../line/overrides.ts";

/** Options for everything that the command line opens. Fails if its options are invalid. */
export function hostOptions(
  { arguments: given, environment, messages }: Invocation,
): Outcome<ChatOptions & SettingsHost> {
  const settings = readOverrides(given);
  if (!settings.ok) return settings;
  return success({
    environment,
    settings: settings.value,
    print: (line) => messages.note(line),
    stream: switchOption(given, "stream") !== false,
    retry: switchOption(given, "retry") !== false,
  });
}
