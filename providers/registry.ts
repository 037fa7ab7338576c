// Providers by name; each is loaded on first use, because a run needs only one.

import { nearest } from "../base/names.ts";
import { failure, type Outcome, success } from "../base/problem.ts";
import type { Settings } from "../config/settings.generated.ts";
import { KNOWN_PROVIDERS, type KnownProvider, ownProvider } from "./known.ts";
import type { Provider } from "./types.ts";
import { type ApiKind, vendorOf, VENDORS } from "./vendors.ts";

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
  openai_chat: () => LOAD_KIND.openai_chat(KNOWN_PROVIDERS.openai_chat),
};

/** Loads the implementation of an API for a vendor or an entry. */
const LOAD_KIND: Readonly<Record<ApiKind, (known: KnownProvider) => Promise<Provider>>> = {
  anthropic: async (known) => (await import("./anthropic/provider.ts")).anthropicProvider(known),
  openai: async (known) => (await import("./openai/provider.ts")).openaiProvider(known),
  openai_chat: async (known) => (await import("./chat_completions/openai_chat.ts")).chatProvider(known),
};

function isBuiltIn(name: string): name is Name {
  return Object.hasOwn(KNOWN_PROVIDERS, name);
}

/** Returns the sorted names of all providers: built-in ones, vendors, and entries of the settings. */
export function providerNames(settings: ProviderSource = NOTHING_OWN): readonly string[] {
  const own = Object.keys(settings.providers).filter((name) => settings.providers[name]?.kind);
  return [...new Set([...Object.keys(KNOWN_PROVIDERS), ...Object.keys(VENDORS), ...own])].sort();
}

/**
 * Returns the sorted names of the providers that the person may be using: built-in ones, the current one, entries of
 * the settings, and vendors whose key variable is set.
 */
export function providersInUse(
  settings: ProviderSource & { readonly provider?: string } = NOTHING_OWN,
  variables: Readonly<Record<string, string>>,
): readonly string[] {
  return providerNames(settings).filter((name) =>
    isBuiltIn(name) || name === settings.provider || settings.providers[name] !== undefined ||
    vendorOf(name)?.keyVariables.some((variable) => variables[variable])
  );
}

/** Returns the built-in providers whose model names match this one. */
export function providersOfModel(model: string): readonly string[] {
  const known: readonly KnownProvider[] = Object.values(KNOWN_PROVIDERS);
  return known.filter(({ modelNames }) => modelNames?.test(model)).map(({ name }) => name);
}

/** Returns the facts known without loading the provider; null for an unknown name. */
export function knownProvider(name: string, settings: ProviderSource = NOTHING_OWN): KnownProvider | null {
  const entry = Object.hasOwn(settings.providers, name) ? settings.providers[name]! : {};
  if (isBuiltIn(name)) {
    const known: KnownProvider = KNOWN_PROVIDERS[name];
    const { key_env: keyVariables } = entry;
    return (keyVariables ?? null) === null
      ? known
      : { ...known, keyVariables: keyVariables!, keyOptional: false };
  }
  return vendorOf(name) !== null || entry.kind ? ownProvider(name, entry) : null;
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
  const known = knownProvider(name, settings);
  if (known === null) return unknownProvider(name, settings);
  if (!isBuiltIn(name)) return success(await LOAD_KIND[known.kind ?? "openai_chat"](known));
  const { keyVariables, keyOptional } = known;
  return success({ ...await LOAD[name](), keyVariables, keyOptional });
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
