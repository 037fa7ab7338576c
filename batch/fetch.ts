// Asks the providers about all batches that are out, writes the replies that are there, and sends the next requests.

import type { Environment } from "../base/environment.ts";
import { isThere } from "../base/files.ts";
import { failure, type Outcome, type Problem, success } from "../base/problem.ts";
import type { ChatOptions } from "../agent/types.ts";
import { knownPath, readDocument } from "../cycle/storage/read.ts";
import type { Emit } from "../cycle/types.ts";
import { parse } from "../parser/mod.ts";
import { replyPlaceholder } from "../parser/view/placeholder.ts";
import { type ClientHost, clientOf, type KnownClient } from "./client_of.ts";
import { type CollectedRequest, Purse } from "./collect.ts";
import { deliver, type DeliveredResult, settleWithoutDocument } from "./deliver.ts";
import { ownSignal, runInTurn } from "./in_turn.ts";
import { BatchJournal, type BatchRecord, openItems, readBatches, readJournals } from "./journal.ts";
import { savedReplyId } from "./kept_reply.ts";
import { giveBack, sendBatches, type SendEvent } from "./send.ts";
import { Spool } from "./spool.ts";
import type { BatchHead, BatchItem, BatchState, ItemResult, NoResult } from "./types.ts";
import { BATCH_APIS, listsEveryBatch } from "./wire/apis.ts";
import type { RefusedProblem } from "./wire/client.ts";
import { savedRows, saveResults } from "./wire/results.ts";

/** Milliseconds after an unanswered creation until a batch that is not in a reliable list counts as not created. */
const DECIDED_AFTER = 600_000;

/** What happened to a batch or document while results were fetched. */
export type FetchEvent =
  | SendEvent
  | {
    readonly kind: "delivered";
    readonly name: string;
    readonly delivery: DeliveredResult;
    readonly head: BatchHead;
  }
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
  | { readonly kind: "missing"; readonly item: BatchItem; readonly batch: string }
  /** The reply of this copy went elsewhere. `kept` is its id if it is kept for `flemma recover`. */
  | { readonly kind: "elsewhere"; readonly name: string; readonly path: string; readonly kept: string | null }
  /** A journal was changed, so its batch is unknown. */
  | { readonly kind: "damaged"; readonly path: string };

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
  const { batches, damaged } = await readJournals(environment);
  for (const path of damaged) tell({ kind: "damaged", path });
  for (const record of batches) {
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
    else if (record.ends.has(item.item)) {
      const kept = record.ends.get(item.item) === "kept" ? savedReplyId(item) : null;
      tell({ kind: "elsewhere", name, path: item.path, kept });
    } else found.set(item.item, path);
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
  readonly #settles: boolean;
  readonly #purse = new Purse();

  /** @param options `settles: true` to leave nothing out: replies of missing documents are kept, and the others are freed */
  constructor(
    options: FetchOptions,
    spool: Spool,
    named: ReadonlyMap<string, string>,
    { settles = false } = {},
  ) {
    this.#options = options;
    this.#spool = spool;
    this.#named = named;
    this.#settles = settles;
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
    if (!await this.#isCreated(journal, known.value)) return;
    const { record } = journal;
    const state = await stateOf(record, known.value);
    if (state.ok) await this.end(journal, known.value, state.value);
    else tell({ kind: "failed", record, problem: state.problem });
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
    const isProven = !isRecent(record) && listsEveryBatch(record.head.provider);
    if (found.value === "undecided" || (found.value === null && !isProven)) {
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

  /** Writes what a batch in some state has brought. */
  async end(journal: BatchJournal, known: KnownClient, state: BatchState): Promise<void> {
    const { tell, environment } = this.#options;
    const { record } = journal;
    if (state.kind === "working") return tell({ kind: "working", record, done: state.done });
    if (state.kind === "failed") {
      // The requests were sent in the order of the documents that were out at that time.
      const faulty = state.line === undefined ? undefined : openItems(record)[state.line - 1];
      await giveBack(journal, environment, tell);
      const why = faulty === undefined ? state.message : `${state.message} (${faulty.name})`;
      return tell({ kind: "gone", record, why });
    }
    const saved = await saveResults(known.client, state.results, { path: journal.resultsPath, environment });
    if (!saved.ok) return tell({ kind: "failed", record, problem: saved.problem });
    await this.#deliverAll(journal, known);
    if (saved.value.isDeleted) await this.#freeRest(journal, known, "deleted");
    else if (state.isExpired) await this.#freeRest(journal, known, "expired");
    else if (this.#settles) await this.#freeRest(journal, known, "lost");
    if (openItems(journal.record).length > 0) return;
    await journal.recordDone();
    await BATCH_APIS[record.head.kind].tidy?.(known.client, record.head, record.remote!);
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
          await this.#deliver(journal, known, item, result);
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
  async #freeRest(journal: BatchJournal, known: KnownClient, why: NoResult["kind"]): Promise<void> {
    for (const item of openItems(journal.record)) {
      await this.#deliver(journal, known, item, { item: item.item, result: { kind: why } });
    }
  }

  async #deliver(
    journal: BatchJournal,
    known: KnownClient,
    item: BatchItem,
    result: ItemResult,
  ): Promise<void> {
    const { files, hear, tell, jobs: _jobs, ...options } = this.#options;
    const { head } = journal.record;
    if (files.length > 0 && !this.#named.has(item.item)) return;
    const path = await this.#pathOf(item);
    if (path === null) {
      if (!this.#settles) return tell({ kind: "missing", item, batch: head.id });
      const delivery = await settleWithoutDocument(item, result, { ...options, journal, known });
      return tell({ kind: "delivered", name: item.name, delivery, head });
    }
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
    tell({ kind: "delivered", name: item.name, delivery, head });
  }

  /** Returns where a document is now; null if it is not there. Another file can have taken its place meanwhile. */
  async #pathOf({ item, path }: BatchItem): Promise<string | null> {
    const named = this.#named.get(item);
    if (named === undefined || named === path) return isThere(path) ? path : null;
    const read = await readDocument(path, this.#options.environment);
    return read.ok && replyPlaceholder(parse(read.value.bytes))?.item === item ? path : named;
  }
}

/** Asks the provider about a batch. */
async function stateOf(
  { head, remote }: BatchRecord,
  { client, provider }: KnownClient,
): Promise<Outcome<BatchState, RefusedProblem>> {
  const state = await BATCH_APIS[head.kind].state(client, head, remote!);
  if (state.ok || state.problem.status !== 404) return state;
  const { message, status } = state.problem;
  return {
    ok: false,
    problem: {
      code: "batch-unknown",
      message:
        `${provider.display} does not know the batch ${remote}, at least not with this key: ${message}`,
      next: `Set the key with which it was sent, or give it up: flemma batch cancel ${head.id}`,
      status,
    },
  };
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
    const state = known.ok ? await stateOf(record, known.value) : known;
    reports.push({
      record,
      state: state.ok ? state.value : null,
      problem: state.ok ? null : state.problem,
    });
  }
  return reports;
}

/**
 * What a cancellation did. `canceled`: its documents are out until the provider has ended the batch. `given-up`: the
 * provider does not have it, so its documents are free. `ended`: it had ended, and nothing of it is out any more.
 */
export type CanceledBatch = "canceled" | "given-up" | "ended";

/** Cancels a batch at its provider. What a batch has brought that has ended already is written or kept. */
export async function cancelBatch(
  { head: { id } }: Pick<BatchRecord, "head">,
  options: Omit<FetchOptions, "files" | "goesOn" | "jobs">,
): Promise<Outcome<CanceledBatch>> {
  const { environment, tell } = options;
  const opened = await BatchJournal.open(environment, id);
  if (opened === null) return failure("batch-busy", `Another run works on the batch ${id}.`);
  using journal = opened;
  const { record } = journal;
  const giveUp = async (): Promise<Outcome<CanceledBatch>> => {
    await giveBack(journal, environment, tell);
    return success("given-up");
  };
  if (record.remote === null) return await giveUp();
  const known = await clientOf(record, options);
  if (!known.ok) return known;
  const state = await stateOf(record, known.value);
  if (!state.ok) return state.problem.status === 404 ? await giveUp() : state;
  if (state.value.kind === "working") {
    const canceled = await BATCH_APIS[record.head.kind].cancel(
      known.value.client,
      record.head,
      record.remote,
    );
    return canceled.ok ? success("canceled") : { ok: false, problem: canceled.problem.problem };
  }
  using spool = await Spool.open(environment);
  const all = { ...options, files: [], goesOn: false, jobs: 1 };
  await new Fetcher(all, spool, new Map(), { settles: true }).end(journal, known.value, state.value);
  return success("ended");
}

/**
 * Notes the provider's name of a batch whose creation was not answered, as the person knows it from the provider.
 *
 * @param remote the provider's name of the batch
 */
export async function adoptBatch(
  { head: { id } }: Pick<BatchRecord, "head">,
  remote: string,
  options: ClientHost,
): Promise<Problem | null> {
  const { environment } = options;
  using journal = await BatchJournal.open(environment, id);
  if (journal === null) return { code: "batch-busy", message: `Another run works on the batch ${id}.` };
  const { record } = journal;
  if (record.remote !== null || record.posted === null) {
    const message = record.remote === null
      ? `The batch ${id} was never sent.`
      : `The batch ${id} is ${record.remote} at its provider.`;
    return { code: "batch-known", message, next: "Go on with: flemma batch fetch" };
  }
  const other = (await readBatches(environment)).find((one) => one.remote === remote);
  if (other !== undefined) {
    return { code: "batch-known", message: `${remote} is the batch ${other.head.id} already.` };
  }
  const known = await clientOf(record, options);
  if (!known.ok) return known.problem;
  const state = await stateOf({ ...record, remote }, known.value);
  if (!state.ok) return state.problem;
  await journal.recordCreated(remote);
  return null;
}
