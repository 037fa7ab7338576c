// The command line as the agent's host: its environment, its options as a layer of settings, its words for a person.

import type { SettingsHost } from "../../agent/settings.ts";
import type { ChatOptions } from "../../agent/types.ts";
import { type Outcome, success } from "../../base/problem.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { overridesOf } from "../line/overrides.ts";

/** What the command line gives along to whatever it opens. Fails with a mistake in its options. */
export function hostOptions(
  { arguments: given, environment, messages }: Invocation,
): Outcome<ChatOptions & SettingsHost> {
  const settings = overridesOf(given);
  if (!settings.ok) return settings;
  return success({
    environment,
    settings: settings.value,
    print: (line) => messages.note(line),
    stream: switchOption(given, "stream") !== false,
    retry: switchOption(given, "retry") !== false,
  });
}
