// Writes the result of one request into its document, and lets the conversation go on up to its next request.

import type { Environment } from "../base/environment.ts";
import { sameBytes } from "../base/bytes.ts";
import { sha256 } from "../base/hash.ts";
import { type Problem, problemLine } from "../base/problem.ts";
import { openChat } from "../agent/open.ts";
import type { ChatOptions, RunResult } from "../agent/types.ts";
import { readDocument } from "../cycle/storage/read.ts";
import type { DocumentStore, Emit } from "../cycle/types.ts";
import { parse } from "../parser/mod.ts";
import type { Chat } from "../parser/types.ts";
import { replyPlaceholder } from "../parser/view/placeholder.ts";
import type { KnownClient } from "./client_of.ts";
import { type CollectedRequest, type Purse, reasonOf, RequestTaker, withGiven } from "./collect.ts";
import { keepReply } from "./kept_reply.ts";
import type { BatchJournal } from "./journal.ts";
import { isAsSent, takeOut } from "./placeholders.ts";
import { ReplyStore } from "./reply_store.ts";
import type { Spool } from "./spool.ts";
import type { AnsweredResult, BatchItem, ItemResult, NoResult } from "./types.ts";

/** What became of the result of a request. */
export type DeliveredResult =
  /** The reply is in the document. `next` is the following request; `waits` says why there is none. */
  | {
    readonly kind: "written";
    readonly next: CollectedRequest | null;
    readonly stop: RunResult;
    /** What is left to do: `calls` have not run, because no further batch may be sent; or a `person` is needed. */
    readonly left: "nothing" | "calls" | "person";
  }
  /** An earlier fetch wrote the reply, and was killed before it noted that. */
  | { readonly kind: "known" }
  /** The reply is kept under an id for `flemma recover`, because the document changed or is missing. */
  | { readonly kind: "kept"; readonly id: string; readonly isMissing: boolean }
  /** The request brought no reply. `next` is the request with a fallback, if there is one. */
  | { readonly kind: "freed"; readonly why: string; readonly next: CollectedRequest | null }
  /** The document cannot take the reply now; a later fetch tries again. */
  | { readonly kind: "later"; readonly problem: Problem };

export interface DeliverOptions extends Omit<ChatOptions, "emit" | "environment"> {
  readonly environment: Environment;
  readonly journal: BatchJournal;
  readonly known: KnownClient;
  readonly spool: Spool;
  readonly purse: Purse;
  /** True to run calls and collect the next request; false to only write the reply. */
  readonly goesOn: boolean;
  readonly emit: Emit;
}

/** Attempts if the document changes between reading and locking it. */
const ATTEMPTS = 3;

/** Delivers a result to the document at `path`. Can be repeated after a kill at any point. */
export async function deliver(
  item: BatchItem,
  { result }: ItemResult,
  path: string,
  options: DeliverOptions,
): Promise<DeliveredResult> {
  for (let attempt = 1;; attempt++) {
    const delivery = await attemptDelivery(item, result, path, options);
    if (delivery !== "again") return delivery;
    if (attempt === ATTEMPTS) {
      const message = `${path} changes again and again.`;
      return { kind: "later", problem: { code: "document-changed", message } };
    }
  }
}

async function attemptDelivery(
  item: BatchItem,
  result: ItemResult["result"],
  path: string,
  options: DeliverOptions,
): Promise<DeliveredResult | "again"> {
  const { environment, journal } = options;
  const read = await readDocument(path, environment);
  if (!read.ok) return { kind: "later", problem: read.problem };
  const chat = parse(read.value.bytes);
  const isThere = replyPlaceholder(chat)?.item === item.item;
  if (!isThere && await holdsReply(chat, item, journal)) {
    await journal.recordEnd(item.item, "written");
    return { kind: "known" };
  }
  if (result.kind !== "message" && result.kind !== "error") {
    return await free(item, path, options, WITHOUT_REPLY[result.kind]);
  }
  if (isThere && await isAsSent(chat, item)) return await answer(item, result, chat, path, options);
  if (result.kind === "error") {
    return await free(
      item,
      path,
      options,
      `The provider refused the request: ${errorWords(result, options)}`,
    );
  }
  return await keep(item, result.body, path, options);
}

const WITHOUT_REPLY: Readonly<Record<NoResult["kind"], string>> = {
  expired: "The request expired before the provider came to it.",
  canceled: "The request was canceled.",
  deleted: "The provider has deleted its reply, which it keeps only for some time.",
  lost: "The results of the batch have no reply for it.",
};

/** Keeps the reply of a document that is not there any more. */
export async function settleWithoutDocument(
  item: BatchItem,
  { result }: ItemResult,
  options: Pick<DeliverOptions, "environment" | "journal" | "known">,
): Promise<DeliveredResult> {
  const { environment, journal, known: { provider, settings } } = options;
  const { head } = journal.record;
  const id = result.kind === "message"
    ? await keepReply(environment, { head, item, body: result.body, provider, settings, path: item.path })
    : null;
  await journal.recordEnd(item.item, id === null ? "freed" : "kept");
  return id === null
    ? { kind: "freed", why: `It is not at ${item.path} any more, and it has no reply.`, next: null }
    : { kind: "kept", id, isMissing: true };
}

/** True if the reply that a killed fetch was about to write is in the document. */
async function holdsReply(
  chat: Chat,
  { item, bytes }: BatchItem,
  { record }: BatchJournal,
): Promise<boolean> {
  const reply = record.writing.get(item);
  if (reply === undefined || chat.byteLength < bytes + reply.size) return false;
  return await sha256(chat.slice(bytes, bytes + reply.size) as Uint8Array<ArrayBuffer>) === reply.digest;
}

function leftAfter({ reason, ids }: RunResult): "nothing" | "calls" | "person" {
  if (reason === "stepped" || reason === "unanswered") return ids.length > 0 ? "calls" : "nothing";
  return reason === "done" || reason === "cut" ? "nothing" : "person";
}

/** True if a run ended by what the provider answered, and not because the document could not be written. */
function isAnswer({ reason, problem }: RunResult): boolean {
  return problem === undefined ? reason === "stepped" || reason === "done" : "class" in problem;
}

async function free(
  item: BatchItem,
  path: string,
  { environment, journal }: DeliverOptions,
  why: string,
): Promise<DeliveredResult> {
  const problem = await takeOut(environment, item, path);
  if (problem !== null) return { kind: "later", problem };
  await journal.recordEnd(item.item, "freed");
  return { kind: "freed", why, next: null };
}

async function keep(
  item: BatchItem,
  body: unknown,
  path: string,
  options: DeliverOptions,
): Promise<DeliveredResult> {
  const { environment, journal, known: { provider, settings } } = options;
  const id = await keepReply(environment, {
    head: journal.record.head,
    item,
    body,
    provider,
    settings,
    path,
  });
  if (id === null) return await free(item, path, options, "The provider's answer is not a reply.");
  const problem = await takeOut(environment, item, path);
  if (problem !== null) return { kind: "later", problem };
  await journal.recordEnd(item.item, "kept");
  return { kind: "kept", id, isMissing: false };
}

function errorWords(
  { body, status }: Extract<AnsweredResult, { kind: "error" }>,
  { known: { provider } }: DeliverOptions,
): string {
  return provider.readError(body, null, status).message;
}

/** Lets the run of the document read the result as the response to its request. */
async function answer(
  item: BatchItem,
  result: AnsweredResult,
  read: Chat,
  path: string,
  { environment, journal, spool, purse, goesOn, emit, known: _known, ...host }: DeliverOptions,
): Promise<DeliveredResult | "again"> {
  const taker = new RequestTaker(purse, journal.record.head.given ?? {});
  let isRead = false;
  let store: ReplyStore | null = null;
  const around = (inner: DocumentStore): DocumentStore => {
    const isSame = replyPlaceholder(inner.chat)?.item === item.item &&
      sameBytes(inner.chat.slice(0, item.bytes), read.slice(0, item.bytes));
    if (!isSame) return inner;
    return store = new ReplyStore(inner, item.item, item.bytes, async (text) => {
      const bytes = new TextEncoder().encode(text);
      await journal.recordWriting(item.item, { size: bytes.length, digest: await sha256(bytes) });
    });
  };
  const { head } = journal.record;
  const opened = await openChat(path, {
    ...host,
    settings: withGiven(host.settings, head),
    environment,
    emit,
    around,
    batch: {
      answer: {
        item: item.item,
        body: item.body,
        sent: new Date(head.time),
        response: () => {
          isRead = true;
          return result.kind === "message"
            ? Response.json(result.body)
            : Response.json(result.body, { status: result.status });
        },
      },
      take: (request) => taker.take(request),
    },
  });
  if (!opened.ok) return { kind: "later", problem: opened.problem };
  await using session = opened.value;
  const replies = store as ReplyStore | null;
  if (replies === null) return "again";
  taker.session = session;
  const { provider, model } = session.settings;
  if (provider !== head.provider || (model !== null && model !== head.model)) {
    const message = `The document now asks ${provider}/${
      model ?? ""
    }, but the reply is by ${head.provider}/${head.model}.`;
    const next = "Fetch with the settings with which it was sent.";
    return { kind: "later", problem: { code: "batch-other-model", message, next } };
  }
  const stop = goesOn ? await session.advance() : await session.send();
  const next = await taker.collected(item.name, spool);
  if (replies.isWritten) {
    await journal.recordEnd(item.item, "written");
    return { kind: "written", next, stop, left: next === null ? leftAfter(stop) : "nothing" };
  }
  const problem = stop.problem ?? { code: "batch-unread", message: reasonOf(stop).why };
  if (!isRead || (next === null && !isAnswer(stop))) return { kind: "later", problem };
  const stuck = await replies.takeBack();
  if (stuck !== null) return { kind: "later", problem: stuck };
  await journal.recordEnd(item.item, "freed");
  const why = next === null
    ? stop.problem === undefined ? "The reply is empty." : problemLine(problem)
    : "The provider refused the request, which is sent again in a reduced form.";
  return { kind: "freed", why, next };
}
