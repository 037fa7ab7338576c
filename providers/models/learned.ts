// What providers said of their models when they were asked last, kept in the state folder (`flemma models list --refresh`).

import type { Environment } from "../../base/environment.ts";
import { replaceSmallFile } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { isObject } from "../../base/is_object.ts";
import { parentOf } from "../../base/paths.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { ModelSetting } from "../../config/values.ts";

/** A provider's list. */
export interface LearnedModels {
  /** The day it was read, in UTC. */
  readonly day: string;
  readonly models: Readonly<Record<string, ModelSetting>>;
}

/** The list of a provider; null when it was never read, or what is kept of it cannot be read. */
export async function learnedModels(
  environment: Environment,
  provider: string,
): Promise<LearnedModels | null> {
  try {
    const value: unknown = JSON.parse(await Deno.readTextFile(fileOf(environment, provider)));
    return isObject(value) && typeof value.day === "string" && isObject(value.models)
      ? value as unknown as LearnedModels
      : null;
  } catch {
    // Whatever keeps it from being read, a file in place of the folder among it: what the program and the settings know of
    // models holds without it, and `models list --refresh`, which writes it, says what is wrong with the place.
    return null;
  }
}

/** Keeps a list in place of the one before. */
export async function keepLearned(
  environment: Environment,
  provider: string,
  learned: LearnedModels,
): Promise<void> {
  const path = fileOf(environment, provider);
  await Deno.mkdir(parentOf(path), { recursive: true, mode: 0o700 });
  await replaceSmallFile(path, new TextEncoder().encode(`${JSON.stringify(learned, null, 1)}\n`), {
    durable: false,
  });
}

/** Settings with what the provider in force said of its models, below what the person says of them. */
export async function withLearned(environment: Environment, settings: Settings): Promise<Settings> {
  const { provider, providers } = settings;
  const learned = await learnedModels(environment, provider);
  if (learned === null) return settings;
  const own = providers[provider];
  const models = { ...learned.models, ...own?.models };
  return { ...settings, providers: { ...providers, [provider]: { ...own, models } } };
}

function fileOf(environment: Environment, provider: string): string {
  // Names of providers are the person's own words.
  return `${stateFolder(environment)}/models/${provider.replace(/[^A-Za-z0-9_-]/g, "_")}.json`;
}
