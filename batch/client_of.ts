// Builds the client for a batch that was sent earlier, with the key of today.

import type { Environment } from "../base/environment.ts";
import { failure, type Outcome, success } from "../base/problem.ts";
import { blocksOf, type SettingsHost, subjectSettings } from "../agent/settings.ts";
import type { Settings } from "../config/settings.generated.ts";
import { readDocument } from "../cycle/storage/read.ts";
import { parse } from "../parser/mod.ts";
import { resolveBaseUrl } from "../providers/http/endpoint.ts";
import { entryHeaders } from "../providers/http/entry_headers.ts";
import { KeyMemory } from "../providers/keys/memory.ts";
import { listRequest } from "../providers/models/listing.ts";
import { getProvider } from "../providers/registry.ts";
import type { Provider } from "../providers/types.ts";
import type { BatchRecord } from "./journal.ts";
import type { BatchHead } from "./types.ts";
import { BatchClient, type ClientOptions } from "./wire/client.ts";

export interface ClientHost extends SettingsHost, Pick<ClientOptions, "fetch" | "signal" | "pause"> {
  readonly environment: Environment;
}

/** The client of a batch, with what its replies are read with. */
export interface KnownClient {
  readonly client: BatchClient;
  readonly provider: Provider;
  readonly settings: Settings;
}

/** Returns the settings of a host with the settings files that a batch was sent with, unless it names others. */
export function withGivenConfig(
  settings: SettingsHost["settings"],
  { given: { config, noConfig } = {} }: Pick<BatchHead, "given">,
): NonNullable<SettingsHost["settings"]> {
  const isNamed = settings?.configPath !== undefined || settings?.noConfig === true;
  if (isNamed) return settings;
  return {
    ...settings,
    ...(config === undefined ? {} : { configPath: config }),
    noConfig: noConfig === true,
  };
}

/** Builds the client of a batch. Fails if the settings now name another server, because the key belongs to that one. */
export async function clientOf(
  { head, items }: BatchRecord,
  host: ClientHost,
): Promise<Outcome<KnownClient>> {
  const settled = { ...host, settings: withGivenConfig(host.settings, head) };
  const found = await settingsOf(items.map(({ path }) => path), settled);
  if (!found.ok) return found;
  const { settings, environment } = found.value;
  const provider = await getProvider(head.provider, settings);
  if (!provider.ok) return provider;
  const base = resolveBaseUrl(provider.value, settings, environment);
  if (!base.ok) return base;
  if (new URL(base.value).origin !== new URL(head.url).origin) {
    return failure(
      "batch-elsewhere",
      `The batch ${head.id} is at ${new URL(head.url).origin}, but ${head.provider} is now ${
        new URL(base.value).origin
      }.`,
      `Set providers.${head.provider}.base_url to the earlier address to fetch it.`,
    );
  }
  const key = await new KeyMemory(() => 0).get({ provider: provider.value, environment, settings });
  if (!key.ok) return key;
  const { secret } = key.value;
  // Providers with a way of their own to send the key have it in the request for their list of models.
  const isOwn = provider.value.modelList !== undefined;
  const list = isOwn ? listRequest(provider.value, secret, settings)?.headers ?? {} : {};
  const own = entryHeaders(settings, head.provider, { key: isOwn ? "" : secret, usual: "bearer" });
  const client = new BatchClient({
    ...host,
    environment,
    provider: provider.value,
    url: head.url,
    headers: { ...own, ...list },
  });
  return success({ client, provider: provider.value, settings });
}

/** Loads the settings of the first document that is still there, else those of the person. */
async function settingsOf(paths: readonly string[], host: ClientHost) {
  for (const path of paths) {
    const read = await readDocument(path, host.environment);
    if (!read.ok) continue;
    const subject = await subjectSettings(host, { path, ...blocksOf(parse(read.value.bytes)) });
    if (subject.ok) return subject;
  }
  return await subjectSettings(host, { path: null, ...blocksOf(null) });
}
