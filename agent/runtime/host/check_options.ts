// Checks the options of a host. A misspelled or misplaced option would otherwise be ignored, and with it a restriction.

import { isObject, own } from "../../../base/is_object.ts";
import { nearest } from "../../../base/names.ts";
import { failure, type Outcome, success } from "../../../base/problem.ts";
import type { SettingsOptions, SettingsOverrides } from "../../../config/sources/find.ts";
import type { ChatOptions, MemoryOptions, OpenOptions } from "../../types.ts";

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

/** What options must be at least, so that nothing throws long after they were passed: a check, and its words. */
const SHAPES: Readonly<Record<string, readonly [fits: (value: unknown) => boolean, words: string]>> = {
  ...Object.fromEntries(
    ["fetch", "emit", "print", "notify", "askSecret"].map((name) => [name, [isFunction, "a function"]]),
  ),
  environment: [
    (value) => isObject(value) && typeof value.cwd === "string" && isObject(value.variables),
    "an environment with cwd and variables",
  ],
  settings: [isObject, "an object"],
  tools: [
    (value) =>
      Array.isArray(value) && value.every((tool) => isObject(tool) || isFunction(tool) || isText(tool)),
    "a list of tools, sources of tools and paths",
  ],
  resolvers: [
    (value) =>
      Array.isArray(value) &&
      value.every((each) => isObject(each) && isText(each.name) && isFunction(each.resolve)),
    "a list of resolvers, each with a name and a function resolve",
  ],
  provider: [(value) => isObject(value) && isFunction(value.buildRequest), "a provider"],
  signal: [(value) => isObject(value) && isFunction(value.addEventListener), "an AbortSignal"],
  store: [
    (value) => isObject(value) && isFunction(value.commit) && isObject(value.chat),
    "a document store with chat and commit",
  ],
  path: [(value) => value === null || isText(value), "a text or null"],
};

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

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
  for (const [option, value] of Object.entries(options)) {
    const shape = own(SHAPES, option);
    if (value === undefined || shape === undefined || shape[0](value)) continue;
    return failure(
      "options-invalid",
      `The option ${option} of ${name} is not ${shape[1]}.`,
      `Pass ${shape[1]}, or leave it out.`,
    );
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
