// Model lists last fetched from providers, stored in the state folder (`flemma models list --refresh`).

import type { Environment } from "../../base/environment.ts";
import { replaceSmallFile } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { isObject } from "../../base/is_object.ts";
import { parentOf } from "../../base/paths.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { ModelSetting } from "../../config/values.ts";

export interface LearnedModels {
  /** Day on which the list was fetched, in UTC. */
  readonly day: string;
  readonly models: Readonly<Record<string, ModelSetting>>;
}

/** Returns a provider's stored list; null if there is none or it is unreadable. */
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
    // Any read error may be ignored, for instance if the folder is a file. Built-in models and settings suffice, and
    // `models list --refresh`, which writes the list, reports what is wrong.
    return null;
  }
}

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

/**
 * Merges the stored list of the current provider into the settings, member by member. The person's own model settings
 * take precedence, and so does what they say about thinking by naming a similar model.
 */
export async function withLearned(environment: Environment, settings: Settings): Promise<Settings> {
  const { provider, providers } = settings;
  const learned = await learnedModels(environment, provider);
  if (learned === null) return settings;
  const own = providers[provider];
  const models = { ...learned.models };
  for (const [name, setting] of Object.entries(own?.models ?? {})) {
    const listed = learned.models[name] ?? {};
    const isDescribed = setting.like !== undefined || setting.thinking !== undefined;
    models[name] = { ...(isDescribed ? withoutThinking(listed) : listed), ...setting };
  }
  return { ...settings, providers: { ...providers, [provider]: { ...own, models } } };
}

/** Returns the facts that are not about thinking. */
export function withoutThinking(
  { thinking: _kind, efforts: _words, thinking_off: _off, ...facts }: ModelSetting,
): ModelSetting {
  return facts;
}

function fileOf(environment: Environment, provider: string): string {
  // Provider names are free text from the settings, so they are made safe for a file name.
  return `${stateFolder(environment)}/models/${provider.replace(/[^A-Za-z0-9_-]/g, "_")}.json`;
}
