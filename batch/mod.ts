// Sends documents as batches and fetches their replies: the steps that the command line and programs share.

import { openChat } from "../agent/open.ts";
import type { ChatOptions } from "../agent/types.ts";
import type { Environment } from "../base/environment.ts";
import type { Emit } from "../cycle/types.ts";
import { type CollectedRequest, collectRequest, type LeftOut, Purse, withGiven } from "./collect.ts";
import { fetchBatches, type FetchEvent } from "./fetch.ts";
import { ownSignal, runInTurn } from "./in_turn.ts";
import { openItems, readBatches } from "./journal.ts";
import { privacyNotice, sendBatches, type SendEvent } from "./send.ts";
import { Spool } from "./spool.ts";
import type { BatchHead } from "./types.ts";

/** Options that sending and fetching share. */
export interface BatchRun extends Omit<ChatOptions, "emit" | "environment"> {
  readonly environment: Environment;
  /** Documents to work on in parallel. */
  readonly jobs: number;
  /** Returns the receiver of a document's events. */
  readonly hear: (name: string) => Emit;
}

export interface SendDocumentsOptions extends BatchRun {
  readonly tell: (event: SendEvent | LeftOut) => void;
  /** Decides whether the requests are sent. `notices` are to be read before. @default they are */
  readonly agree?: (requests: readonly CollectedRequest[], notices: readonly string[]) => Promise<boolean>;
}

/** True for a document that is not in a batch. */
export function isLeftOut(event: SendEvent | LeftOut): event is LeftOut {
  return "why" in event;
}

/** Sends the next requests of documents as batches. */
export async function sendDocuments(
  files: readonly string[],
  { tell, agree, jobs, ...options }: SendDocumentsOptions,
): Promise<void> {
  const { environment, signal = new AbortController().signal } = options;
  using spool = await Spool.open(environment);
  const purse = new Purse();
  const requests: CollectedRequest[] = [];
  await runInTurn(files, { jobs, signal }, async (name) => {
    using own = ownSignal(signal);
    const collected = await collectRequest(name, { ...options, signal: own.signal, spool, purse });
    if ("why" in collected) tell(collected);
    else requests.push(collected);
  });
  if (requests.length === 0 || signal.aborted) return;
  const notices: string[] = [];
  // What nobody reads counts as not said.
  for (const provider of agree === undefined ? [] : new Set(requests.map(({ provider }) => provider))) {
    const notice = await privacyNotice(environment, { provider });
    if (notice !== null) notices.push(notice);
  }
  if (agree !== undefined && !await agree(requests, notices)) return;
  await sendBatches(requests, { environment, spool, fetch: options.fetch, signal, tell });
}

export interface FetchDocumentsOptions extends BatchRun {
  /** Documents to fetch, wherever they lie; empty for all that are out. */
  readonly files: readonly string[];
  /** Most further batches. With 0, replies are only written, and no calls run. */
  readonly rounds: number;
  /** True to wait until nothing is out any more. */
  readonly waits: boolean;
  /** True to continue at full price with documents that need more rounds. */
  readonly finishesLive: boolean;
  readonly tell: (event: FetchEvent) => void;
  /** Called before each look at the providers. @default nothing is called */
  readonly begins?: () => void;
  /** Waits so many seconds; ends early if the signal aborts. @default a timer */
  readonly pause?: (seconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** What is left after a fetch. */
export interface FetchedDocuments {
  /** Documents that are still out. */
  readonly out: number;
  /** True if a document that went on live needs a person. */
  readonly needsPerson: boolean;
}

/** Seconds between two looks: twice as long each time, up to the last of these. */
const WAITS = { first: 5, most: 60 };

/** Fetches replies, once or until nothing is out any more. */
export async function fetchDocuments(
  { rounds, waits, finishesLive, begins, pause = sleep, ...options }: FetchDocumentsOptions,
): Promise<FetchedDocuments> {
  const { environment, signal } = options;
  /** Documents whose calls have not run, and the batch that brought them. */
  const more = new Map<string, BatchHead>();
  let left = rounds;
  let wait = WAITS.first;
  for (;;) {
    begins?.();
    const goesOn = left > 0;
    const tell = (event: FetchEvent) => {
      if (
        event.kind === "delivered" && event.delivery.kind === "written" && event.delivery.left === "calls"
      ) {
        more.set(event.name, event.head);
      }
      options.tell(event);
    };
    const isSent = await fetchBatches({ ...options, tell, goesOn });
    if (isSent) left--;
    const out = await countOut(environment);
    if (out === 0 || !waits || signal?.aborted === true) {
      return { out, needsPerson: finishesLive && await finishLive(more, options) };
    }
    if (isSent) wait = WAITS.first;
    await pause(wait, signal);
    wait = Math.min(WAITS.most, wait * 2);
  }
}

/** Returns the number of documents that are out. */
export async function countOut(environment: Environment): Promise<number> {
  const open = (await readBatches(environment)).filter(({ isDone }) => !isDone);
  return open.reduce((sum, record) => sum + openItems(record).length, 0);
}

/** Goes on at full price with documents whose calls have not run. Returns true if one of them needs a person. */
async function finishLive(
  documents: ReadonlyMap<string, BatchHead>,
  { jobs, hear, tell, files: _files, ...options }: Omit<
    FetchDocumentsOptions,
    "rounds" | "waits" | "finishesLive" | "begins" | "pause"
  >,
): Promise<boolean> {
  const { signal = new AbortController().signal } = options;
  let needsPerson = false;
  await runInTurn([...documents], { jobs, signal }, async ([name, head]) => {
    using own = ownSignal(signal);
    const settings = withGiven(options.settings, head);
    const opened = await openChat(name, { ...options, settings, signal: own.signal, emit: hear(name) });
    if (!opened.ok) {
      tell({ kind: "dropped", name, problem: opened.problem });
      return;
    }
    await using session = opened.value;
    const stop = await session.advance();
    needsPerson ||= !["done", "answered", "cut"].includes(stop.reason);
    if (stop.problem !== undefined && stop.reason === "failed") {
      tell({ kind: "dropped", name, problem: stop.problem });
    }
  });
  return needsPerson;
}

function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    }, { once: true });
  });
}
