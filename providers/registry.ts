// Providers by name; each is loaded on first use, because a run needs only one.

import { nearest } from "../base/names.ts";
import { failure, type Outcome, success } from "../base/problem.ts";
import type { Settings } from "../config/settings.generated.ts";
import { KNOWN_PROVIDERS, type KnownProvider, ownProvider } from "./known.ts";
import type { Provider } from "./types.ts";

/** The settings that define providers of the person's own. */
export type ProviderSource = Pick<Settings, "providers">;

const NOTHING_OWN: ProviderSource = { providers: {} };

type Name = keyof typeof KNOWN_PROVIDERS;

const LOAD: Readonly<Record<Name, () => Promise<Provider>>> = {
  anthropic: async () => (await import("./anthropic/provider.ts")).anthropic,
  openai: async () => (await import("./openai/provider.ts")).openai,
  vertex: async () => (await import("./google/provider.ts")).vertex,
  gemini: async () => (await import("./google/provider.ts")).gemini,
  moonshot: async () => (await import("./chat_completions/moonshot.ts")).moonshot,
  openai_chat: () => loadChat(KNOWN_PROVIDERS.openai_chat),
};

async function loadChat(known: KnownProvider): Promise<Provider> {
  return (await import("./chat_completions/openai_chat.ts")).chatProvider(known);
}

function isBuiltIn(name: string): name is Name {
  return Object.hasOwn(KNOWN_PROVIDERS, name);
}

/** Returns the sorted names of all providers, including those defined by settings. */
export function providerNames(settings: ProviderSource = NOTHING_OWN): readonly string[] {
  const own = Object.keys(settings.providers).filter((name) => settings.providers[name]?.kind);
  return [...new Set([...Object.keys(KNOWN_PROVIDERS), ...own])].sort();
}

/** Returns the built-in providers whose model names match this one. */
export function providersOfModel(model: string): readonly string[] {
  const known: readonly KnownProvider[] = Object.values(KNOWN_PROVIDERS);
  return known.filter(({ modelNames }) => modelNames?.test(model)).map(({ name }) => name);
}

/** Returns the facts known without loading the provider; null for an unknown name. */
export function knownProvider(name: string, settings: ProviderSource = NOTHING_OWN): KnownProvider | null {
  if (isBuiltIn(name)) return KNOWN_PROVIDERS[name];
  return providerNames(settings).includes(name) ? ownProvider(name) : null;
}

/**
 * Loads the provider of that name.
 *
 * @param name the provider's name in the settings
 * @param settings settings that define the person's own servers. @default none
 * @returns the provider. Fails with `provider-unknown`, which suggests the nearest name.
 */
export async function getProvider(
  name: string,
  settings: ProviderSource = NOTHING_OWN,
): Promise<Outcome<Provider>> {
  if (isBuiltIn(name)) return success(await LOAD[name]());
  const known = knownProvider(name, settings);
  if (known !== null) return success(await loadChat(known));
  return unknownProvider(name, settings);
}

/** Fails with `provider-unknown`, and suggests the nearest name. */
export function unknownProvider(name: string, settings: ProviderSource = NOTHING_OWN): Outcome<never> {
  const names = providerNames(settings);
  const near = nearest(name, names);
  return failure(
    "provider-unknown",
    `There is no provider named "${name}".`,
    near === null
      ? `Known providers: ${names.join(", ")}. To add your own server, set providers.NAME.kind.`
      : `Did you mean ${near}?`,
  );
}
