// Checks the options of a host. A misspelled or misplaced option would otherwise be ignored, and with it a restriction.

import { nearest } from "../../base/names.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { SettingsOptions, SettingsOverrides } from "../../config/sources/find.ts";
import type { ChatOptions, MemoryOptions, OpenOptions } from "../types.ts";

/** The names of all members of a type. */
type Members<T> = Readonly<Record<keyof T, true>>;

const OVERRIDES: Members<SettingsOverrides> = {
  configPath: true,
  noConfig: true,
  overrides: true,
  preset: true,
  approve: true,
};

const CHAT: Members<ChatOptions> = {
  environment: true,
  settings: true,
  tools: true,
  resolvers: true,
  provider: true,
  fetch: true,
  retry: true,
  limiter: true,
  emit: true,
  signal: true,
  stream: true,
  compacts: true,
  interactive: true,
  askSecret: true,
  print: true,
};

const KNOWN = {
  openChat: { ...CHAT, readOnly: true, wait: true, notify: true } satisfies Members<OpenOptions>,
  chatInMemory: { ...CHAT, path: true, store: true, readOnly: true } satisfies Members<MemoryOptions>,
  loadSettings: { ...OVERRIDES, environment: true, document: true } satisfies Members<SettingsOptions>,
};

/**
 * Checks the names of options, and of those in `settings`.
 *
 * @param name the function that got the options
 * @returns nothing. Fails with `options-invalid`, which names the unknown option and where it belongs
 */
export function checkOptions(name: keyof typeof KNOWN, options: object): Outcome<void> {
  const unknown = unknownIn(options, KNOWN[name]);
  if (unknown !== undefined) {
    return failure("options-invalid", `${name} has no option "${unknown}".`, remedy(unknown, KNOWN[name]));
  }
  const { settings } = options as ChatOptions;
  if (name === "loadSettings" || settings === undefined) return success(undefined);
  const misplaced = unknownIn(settings, OVERRIDES);
  if (misplaced === undefined) return success(undefined);
  return failure(
    "options-invalid",
    `The option settings of ${name} has no member "${misplaced}".`,
    `${remedy(misplaced, OVERRIDES)} Settings as in a settings file belong into settings.overrides.`,
  );
}

function unknownIn(options: object, known: Readonly<Record<string, true>>): string | undefined {
  return Object.keys(options).find((member) => !Object.hasOwn(known, member));
}

function remedy(unknown: string, known: Readonly<Record<string, true>>): string {
  const similar = nearest(unknown, Object.keys(known));
  return similar === null ? `There are: ${Object.keys(known).join(", ")}.` : `Did you mean ${similar}?`;
}
