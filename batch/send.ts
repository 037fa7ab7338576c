// Sends collected requests as batches. Before anything is sent, the journal names every request and the documents say that
// they wait, so a kill at any point pays for no request twice.

import type { Environment } from "../base/environment.ts";
import { sha256, toHex } from "../base/hash.ts";
import { isMissing } from "../base/files.ts";
import type { Problem } from "../base/problem.ts";
import { getProvider } from "../providers/registry.ts";
import type { CollectedRequest } from "./collect.ts";
import { batchFolder, BatchJournal, removeOldBatches } from "./journal.ts";
import { placeIn, takeOut } from "./placeholders.ts";
import type { Spool } from "./spool.ts";
import type { BatchHead, BatchItem } from "./types.ts";
import type { BatchApi } from "./wire/api.ts";
import { BATCH_APIS } from "./wire/apis.ts";
import { BatchClient } from "./wire/client.ts";

/** What happened to a batch or document while batches were sent. */
export type SendEvent =
  | { readonly kind: "sent"; readonly head: BatchHead; readonly items: readonly BatchItem[] }
  /** Nobody knows yet whether the provider took the batch. */
  | { readonly kind: "unclear"; readonly head: BatchHead; readonly problem: Problem }
  | { readonly kind: "refused"; readonly head: BatchHead; readonly problem: Problem }
  /** A document could not get its placeholder, so it is not in the batch. */
  | { readonly kind: "dropped"; readonly name: string; readonly problem: Problem }
  /** A document could not be given back. */
  | { readonly kind: "stuck"; readonly name: string; readonly problem: Problem };

export interface SendBatchOptions {
  readonly environment: Environment;
  readonly spool: Spool;
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
  readonly tell: (event: SendEvent) => void;
}

/** Sends the requests, in as many batches as providers, models and limits need. */
export async function sendBatches(
  requests: readonly CollectedRequest[],
  options: SendBatchOptions,
): Promise<void> {
  await removeOldBatches(options.environment, new Date());
  for (const group of groupsOf(requests)) {
    const api = BATCH_APIS[group[0]!.kind];
    for (const part of splitAtLimits(group, api)) {
      if (options.signal?.aborted === true) {
        for (const { name } of part) options.tell({ kind: "dropped", name, problem: INTERRUPTED });
      } else await sendBatch(part, api, options);
    }
  }
}

const INTERRUPTED: Problem = { code: "cancelled", message: "Interrupted before it was sent." };

/** Groups requests that can be in one batch: by provider, key, model and headers. */
function groupsOf(requests: readonly CollectedRequest[]): readonly (readonly CollectedRequest[])[] {
  const groups = new Map<string, CollectedRequest[]>();
  for (const request of requests) {
    const { provider, kind, model, url, headers, given } = request;
    const key = JSON.stringify([provider, kind, model, url, Object.entries(headers).sort(), given]);
    groups.set(key, [...groups.get(key) ?? [], request]);
  }
  return [...groups.values()];
}

/** Bytes of an entry in addition to its body. */
const ENTRY_BYTES = 300;

/** Splits requests at the limits of a batch. */
function splitAtLimits(
  requests: readonly CollectedRequest[],
  { limits }: Pick<BatchApi, "limits">,
): readonly (readonly CollectedRequest[])[] {
  const parts: CollectedRequest[][] = [];
  let bytes = Infinity;
  for (const request of requests) {
    const size = request.spooled.size + ENTRY_BYTES;
    const last = parts.at(-1);
    if (last === undefined || bytes + size > limits.bytes || last.length >= limits.requests) {
      parts.push([request]);
      bytes = size;
    } else {
      last.push(request);
      bytes += size;
    }
  }
  return parts;
}

async function sendBatch(
  requests: readonly CollectedRequest[],
  api: BatchApi,
  options: SendBatchOptions,
): Promise<void> {
  const { environment, spool, tell } = options;
  const [first] = requests;
  if (first === undefined) return;
  const { provider, kind, model, url, headers, given } = first;
  const time = new Date().toISOString();
  const head = { id: randomId(), provider, kind, model, url, time, count: requests.length, given };
  const items = await itemsOf(requests);
  using journal = await BatchJournal.create(environment, head, items);
  const entries: string[] = [];
  const placed: BatchItem[] = [];
  for (const [index, item] of items.entries()) {
    const problem = await placeIn(environment, item, head.id);
    if (problem === null) {
      placed.push(item);
      entries.push(api.entry(item.item, spool.read(requests[index]!.spooled), head));
    } else {
      await journal.recordEnd(item.item, "freed");
      tell({ kind: "dropped", name: item.name, problem });
    }
  }
  if (placed.length === 0) return await journal.recordDone();
  const found = await getProvider(provider, { providers: {} });
  const known = found.ok ? found.value : { display: provider, readError: readAnyError };
  const client = new BatchClient({
    environment,
    provider: known,
    url,
    headers: withoutType(headers),
    fetch: options.fetch,
  });
  await journal.recordPosting(new Date().toISOString());
  const made = await api.create(client, { ...head, count: placed.length }, entries);
  if (made.ok) {
    await journal.recordCreated(made.value);
    tell({ kind: "sent", head, items: placed });
    return;
  }
  const { problem, isUnclear } = made.problem;
  if (isUnclear) {
    tell({ kind: "unclear", head, problem });
    return;
  }
  await giveBack(journal, environment, tell);
  tell({ kind: "refused", head, problem });
}

/** Takes the placeholders out of all documents that wait for a batch which does not exist. */
export async function giveBack(
  journal: BatchJournal,
  environment: Environment,
  tell: (event: Extract<SendEvent, { kind: "stuck" }>) => void,
): Promise<void> {
  let isStuck = false;
  for (const item of journal.record.items) {
    if (journal.record.ends.has(item.item)) continue;
    const problem = await takeOut(environment, item);
    if (problem === null || problem.code === "document-missing") await journal.recordEnd(item.item, "freed");
    else {
      isStuck = true;
      tell({ kind: "stuck", name: item.name, problem });
    }
  }
  if (!isStuck) await journal.recordDone();
}

/** Makes the ids of requests: digests that say nothing about a document, and that no other send has. */
async function itemsOf(requests: readonly CollectedRequest[]): Promise<readonly BatchItem[]> {
  const salt = toHex(crypto.getRandomValues(new Uint8Array(16)));
  return await Promise.all(requests.map(async ({ name, path, bytes, text, body, lock }) => {
    const { dev, ino } = await Deno.stat(path).catch((thrown) => {
      // A missing document is dropped when its placeholder is written.
      if (isMissing(thrown)) return { dev: 0, ino: 0 };
      throw thrown;
    });
    const digest = await sha256(`${salt} ${dev} ${ino} ${path} ${text}`);
    return { item: digest.slice(0, 32), path, name, bytes, text, body, lock };
  }));
}

/** Returns a short id for a batch. */
function randomId(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(5)));
}

function withoutType(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== "content-type"),
  );
}

function readAnyError(body: unknown, _headers: Headers | null, status?: number) {
  const message = `The server answered with HTTP ${status ?? "?"}: ${JSON.stringify(body).slice(0, 300)}`;
  return { code: "provider-error", message, class: "other" as const, details: [] };
}

/** A sentence about the storage of contents, said once before the first batch of a provider. */
export async function privacyNotice(
  environment: Environment,
  { provider }: Pick<CollectedRequest, "provider">,
): Promise<string | null> {
  const folder = batchFolder(environment);
  const path = `${folder}/told-${encodeURIComponent(provider)}`;
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    await Deno.writeTextFile(path, "", { createNew: true, mode: 0o600 });
  } catch (thrown) {
    if (thrown instanceof Deno.errors.AlreadyExists) return null;
    throw thrown;
  }
  return `${provider} stores the contents of batches for up to 30 days, also where it stores no other requests.`;
}
