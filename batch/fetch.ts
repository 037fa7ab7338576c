// Asks the providers about all batches that are out, writes the replies that are there, and sends the next requests.

import type { Environment } from "../base/environment.ts";
import { isThere } from "../base/files.ts";
import type { Problem } from "../base/problem.ts";
import type { ChatOptions } from "../agent/types.ts";
import { knownPath, readDocument } from "../cycle/storage/read.ts";
import type { Emit } from "../cycle/types.ts";
import { parse } from "../parser/mod.ts";
import { replyPlaceholder } from "../parser/view/placeholder.ts";
import { clientOf, type KnownClient } from "./client_of.ts";
import { type CollectedRequest, Purse } from "./collect.ts";
import { deliver, type DeliveredResult } from "./deliver.ts";
import { ownSignal, runInTurn } from "./in_turn.ts";
import { BatchJournal, type BatchRecord, openItems, readBatches } from "./journal.ts";
import { giveBack, sendBatches, type SendEvent } from "./send.ts";
import { Spool } from "./spool.ts";
import type { BatchItem, BatchState } from "./types.ts";
import { BATCH_APIS } from "./wire/apis.ts";
import { savedRows, saveResults } from "./wire/results.ts";

/** Milliseconds after an unanswered creation until a batch that is nowhere to be found counts as not created. */
const DECIDED_AFTER = 600_000;

/** What happened to a batch or document while results were fetched. */
export type FetchEvent =
  | SendEvent
  | { readonly kind: "delivered"; readonly name: string; readonly delivery: DeliveredResult }
  /** A batch is still being worked on. */
  | { readonly kind: "working"; readonly record: BatchRecord; readonly done: number | null }
  /** It is not known yet whether a batch exists. */
  | { readonly kind: "undecided"; readonly record: BatchRecord }
  /** A batch does not exist or brought nothing, so its documents are free. */
  | { readonly kind: "gone"; readonly record: BatchRecord; readonly why: string }
  | { readonly kind: "failed"; readonly record: BatchRecord; readonly problem: Problem }
  /** Another run works on the batch. */
  | { readonly kind: "busy"; readonly record: BatchRecord }
  /** A document of a batch is not where it was. */
  | { readonly kind: "missing"; readonly item: BatchItem }
  /** The reply of this copy went elsewhere. */
  | { readonly kind: "elsewhere"; readonly name: string; readonly path: string };

export interface FetchOptions extends Omit<ChatOptions, "emit" | "environment"> {
  readonly environment: Environment;
  /** Documents to fetch; empty for all. */
  readonly files: readonly string[];
  /** True if documents with calls go on and their next requests are sent. */
  readonly goesOn: boolean;
  /** Documents to work on in parallel. */
  readonly jobs: number;
  readonly hear: (name: string) => Emit;
  readonly tell: (event: FetchEvent) => void;
}

/** Fetches once. Returns true if further requests were sent. */
export async function fetchBatches(options: FetchOptions): Promise<boolean> {
  const { environment, tell } = options;
  const named = await namedItems(options);
  using spool = await Spool.open(environment);
  const fetcher = new Fetcher(options, spool, named);
  for (const record of await readBatches(environment)) {
    if (record.isDone || options.signal?.aborted === true) continue;
    if (options.files.length > 0 && !openItems(record).some(({ item }) => named.has(item))) continue;
    await fetcher.fetch(record);
  }
  const next = fetcher.next;
  if (next.length === 0) return false;
  await sendBatches(next, { ...options, spool, tell });
  return true;
}

/** Finds the requests of named documents, wherever these lie now. Says where the replies of copies went. */
async function namedItems(
  { files, environment, tell }: FetchOptions,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (files.length === 0) return found;
  const records = await readBatches(environment);
  for (const name of files) {
    const path = await knownPath(environment, name);
    const read = await readDocument(path, environment, name);
    if (!read.ok) {
      tell({ kind: "dropped", name, problem: read.problem });
      continue;
    }
    const placeholder = replyPlaceholder(parse(read.value.bytes));
    if (placeholder === null) {
      const item = records.flatMap(openItems).find((one) => one.path === path);
      if (item !== undefined) found.set(item.item, path);
      else tell({ kind: "dropped", name, problem: NOT_OUT });
      continue;
    }
    const record = records.find(({ items }) => items.some(({ item }) => item === placeholder.item));
    const item = record?.items.find((one) => one.item === placeholder.item);
    if (record === undefined || item === undefined) tell({ kind: "dropped", name, problem: FOREIGN });
    else if (record.ends.has(item.item)) tell({ kind: "elsewhere", name, path: item.path });
    else found.set(item.item, path);
  }
  return found;
}

const NOT_OUT: Problem = { code: "batch-none", message: "It is in no batch." };

const FOREIGN: Problem = {
  code: "batch-unknown",
  message: "Its placeholder is of another machine or was written by hand.",
  next: "Fetch it where it was sent, or delete the placeholder.",
};

class Fetcher {
  readonly next: CollectedRequest[] = [];
  readonly #options: FetchOptions;
  readonly #spool: Spool;
  readonly #named: ReadonlyMap<string, string>;
  readonly #purse = new Purse();

  constructor(options: FetchOptions, spool: Spool, named: ReadonlyMap<string, string>) {
    this.#options = options;
    this.#spool = spool;
    this.#named = named;
  }

  async fetch({ head }: BatchRecord): Promise<void> {
    const { environment, tell } = this.#options;
    const opened = await BatchJournal.open(environment, head.id);
    if (opened === null) {
      const record = (await readBatches(environment)).find((other) => other.head.id === head.id);
      if (record !== undefined && !record.isDone) tell({ kind: "busy", record });
      return;
    }
    using journal = opened;
    if (journal.record.isDone) return;
    if (journal.record.posted === null) {
      await giveBack(journal, environment, tell);
      tell({ kind: "gone", record: journal.record, why: "it was never sent" });
      return;
    }
    const known = await clientOf(journal.record, this.#options);
    if (!known.ok) {
      tell({ kind: "failed", record: journal.record, problem: known.problem });
      return;
    }
    if (await this.#isCreated(journal, known.value)) await this.#results(journal, known.value);
  }

  /** Finds a batch whose creation was not answered. It is never created again. */
  async #isCreated(journal: BatchJournal, { client }: KnownClient): Promise<boolean> {
    const { environment, tell } = this.#options;
    const { record } = journal;
    if (record.remote !== null) return true;
    const open = openItems(record);
    const others = (await readBatches(environment)).flatMap(({ remote }) => remote ?? []);
    const found = await BATCH_APIS[record.head.kind].find(client, { ...record.head, count: open.length }, {
      known: new Set(others),
      items: new Set(open.map(({ item }) => item)),
    });
    if (!found.ok) {
      tell({ kind: "failed", record, problem: found.problem });
      return false;
    }
    if (found.value === "undecided" || (found.value === null && isRecent(record))) {
      tell({ kind: "undecided", record });
      return false;
    }
    if (found.value === null) {
      await giveBack(journal, environment, tell);
      tell({ kind: "gone", record, why: "the provider does not know it" });
      return false;
    }
    await journal.recordCreated(found.value);
    return true;
  }

  async #results(journal: BatchJournal, known: KnownClient): Promise<void> {
    const { tell, environment } = this.#options;
    const { record } = journal;
    const api = BATCH_APIS[record.head.kind];
    const state = await api.state(known.client, record.head, record.remote!);
    if (!state.ok) return tell({ kind: "failed", record, problem: state.problem });
    if (state.value.kind === "working") return tell({ kind: "working", record, done: state.value.done });
    if (state.value.kind === "failed") {
      await giveBack(journal, environment, tell);
      return tell({ kind: "gone", record, why: state.value.message });
    }
    const saved = await saveResults(known.client, state.value.results, journal.resultsPath);
    if (!saved.ok) return tell({ kind: "failed", record, problem: saved.problem });
    await this.#deliverAll(journal, known);
    if (state.value.isExpired) await this.#freeRest(journal, known);
    if (openItems(journal.record).length > 0) return;
    await journal.recordDone();
    await api.tidy?.(known.client, record.head, record.remote!);
  }

  async #deliverAll(journal: BatchJournal, known: KnownClient): Promise<void> {
    const { jobs, signal = new AbortController().signal } = this.#options;
    const items = new Map(openItems(journal.record).map((item) => [item.item, item]));
    const api = BATCH_APIS[journal.record.head.kind];
    const rows = savedRows(journal.resultsPath);
    // Each worker takes the next row, so no more than `jobs` rows are in memory.
    const workers = runInTurn(
      Array.from({ length: jobs }, (_, index) => index),
      { jobs, signal },
      async () => {
        for (;;) {
          const { value: row, done } = await rows.next();
          if (done === true || signal.aborted) return;
          const result = api.result(row);
          const item = result === null ? undefined : items.get(result.item);
          if (result === null || item === undefined) continue;
          items.delete(item.item);
          const path = this.#pathOf(item);
          if (path === null) continue;
          await this.#deliver(journal, known, item, { result, path });
        }
      },
    );
    try {
      await workers;
    } finally {
      await rows.return(undefined);
    }
  }

  /** Frees the documents of a batch that ended early and brought nothing for them. */
  async #freeRest(journal: BatchJournal, known: KnownClient): Promise<void> {
    for (const item of openItems(journal.record)) {
      const path = this.#pathOf(item);
      if (path === null) continue;
      const result = { item: item.item, result: { kind: "expired" } as const };
      await this.#deliver(journal, known, item, { result, path });
    }
  }

  async #deliver(
    journal: BatchJournal,
    known: KnownClient,
    item: BatchItem,
    { result, path }: { readonly result: Parameters<typeof deliver>[1]; readonly path: string },
  ): Promise<void> {
    const { files: _files, hear, tell, jobs: _jobs, ...options } = this.#options;
    using own = ownSignal(options.signal);
    const delivery = await deliver(item, result, path, {
      ...options,
      signal: own.signal,
      journal,
      known,
      spool: this.#spool,
      purse: this.#purse,
      emit: hear(item.name),
    });
    if ("next" in delivery && delivery.next !== null) this.next.push(delivery.next);
    tell({ kind: "delivered", name: item.name, delivery });
  }

  /** Returns where a document is now; null if it is not to be fetched, or not there. */
  #pathOf(item: BatchItem): string | null {
    const { files, tell } = this.#options;
    const named = this.#named.get(item.item);
    if (files.length > 0 && named === undefined) return null;
    if (isThere(item.path)) return item.path;
    if (named !== undefined) return named;
    tell({ kind: "missing", item });
    return null;
  }
}

function isRecent({ posted }: BatchRecord): boolean {
  return Date.now() - Date.parse(posted ?? "") < DECIDED_AFTER;
}

/** What is known about a batch: the journal, and what the provider says. */
export interface BatchOverview {
  readonly record: BatchRecord;
  readonly state: BatchState | null;
  readonly problem: Problem | null;
}

/** Asks the providers about all batches that are out. Changes nothing. */
export async function reportBatches(
  options: Omit<FetchOptions, "files" | "goesOn" | "jobs" | "hear" | "tell">,
): Promise<readonly BatchOverview[]> {
  const reports: BatchOverview[] = [];
  for (const record of await readBatches(options.environment)) {
    if (record.isDone) continue;
    if (record.remote === null) {
      reports.push({ record, state: null, problem: null });
      continue;
    }
    const known = await clientOf(record, options);
    const state = known.ok
      ? await BATCH_APIS[record.head.kind].state(known.value.client, record.head, record.remote)
      : known;
    reports.push({
      record,
      state: state.ok ? state.value : null,
      problem: state.ok ? null : state.problem,
    });
  }
  return reports;
}

/** Cancels batches at their providers. Their documents stay out until the provider has ended them. */
export async function cancelBatch(
  record: BatchRecord,
  options: Omit<FetchOptions, "files" | "goesOn" | "jobs" | "hear">,
): Promise<Problem | null> {
  const { environment, tell } = options;
  const opened = await BatchJournal.open(environment, record.head.id);
  if (opened === null) {
    return { code: "batch-busy", message: `Another run works on the batch ${record.head.id}.` };
  }
  using journal = opened;
  if (journal.record.remote === null) {
    await giveBack(journal, environment, tell);
    return null;
  }
  const known = await clientOf(journal.record, options);
  if (!known.ok) return known.problem;
  const { head, remote } = journal.record;
  const canceled = await BATCH_APIS[head.kind].cancel(known.value.client, head, remote!);
  return canceled.ok ? null : canceled.problem.problem;
}
