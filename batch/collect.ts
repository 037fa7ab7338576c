// Collects the requests of documents for a batch: each document is advanced up to its next request.

import { sha256 } from "../base/hash.ts";
import { isObject } from "../base/is_object.ts";
import { absolutePath } from "../base/paths.ts";
import { problemLine } from "../base/problem.ts";
import { openChat, type OwnOpenOptions } from "../agent/open.ts";
import type { ChatSession, RunResult } from "../agent/types.ts";
import type { Environment } from "../base/environment.ts";
import type { Problem } from "../base/problem.ts";
import type { BatchedRequest, TakenRequest } from "../cycle/send/options.ts";
import type { Emit } from "../cycle/types.ts";
import { bodyBytes } from "../providers/http/body.ts";
import { replyPlaceholder } from "../parser/view/placeholder.ts";
import { withoutStream } from "./body.ts";
import { withGivenConfig } from "./client_of.ts";
import type { Spool, SpooledBody } from "./spool.ts";
import type { BatchHead, BatchItem, BatchKind, GivenOptions } from "./types.ts";
import { batchKindOf } from "./wire/apis.ts";

/** A request of a document, ready for a batch. */
export interface CollectedRequest extends Omit<BatchItem, "item"> {
  readonly provider: string;
  readonly kind: BatchKind;
  readonly model: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tokens: number;
  /** Estimated dollars without the reply; null if the price is unknown. */
  readonly cost: number | null;
  /** The body, which does not ask for a stream. */
  readonly spooled: SpooledBody;
  /** Options of the send that later rounds keep. */
  readonly given: GivenOptions;
}

/** A document that is not in the batch. */
export interface LeftOut {
  readonly name: string;
  /** Why, as a sentence. */
  readonly why: string;
  /** `person`: someone has to decide or write. `nothing`: there is nothing to ask. `failed`: it cannot be sent. */
  readonly kind: "person" | "nothing" | "failed";
}

/** What the requests of one send may cost together. */
export class Purse {
  #dollars = 0;

  /** Returns why a request is too expensive; null if it was counted. */
  take({ cost, most, model, provider }: TakenRequest): Problem | null {
    if (most !== null && cost === null) {
      return {
        code: "price-unknown",
        message: `No price is known for ${model} of ${provider}, so run.max_cost cannot be enforced.`,
      };
    }
    if (most !== null && this.#dollars + cost! > most) {
      return {
        code: "budget-reached",
        message: `The batch would cost more than $${most} (run.max_cost), even without its replies.`,
      };
    }
    this.#dollars += cost ?? 0;
    return null;
  }
}

/** Takes the request of one document in place of the network. */
export class RequestTaker {
  readonly #purse: Purse;
  readonly #given: GivenOptions;
  taken: TakenRequest | null = null;
  #kind: BatchKind | null = null;
  /** The session whose request is taken; set once it is open. */
  session: ChatSession | null = null;

  constructor(purse: Purse, given: GivenOptions) {
    this.#purse = purse;
    this.#given = given;
  }

  take(request: TakenRequest): Problem | null {
    const { session } = this;
    const kind = session === null ? null : batchKindOf(request, session.settings);
    if (kind === null) {
      return {
        code: "batch-unavailable",
        message: `${request.provider} takes no batches, as far as flemma knows.`,
        next: `If it does, name it in your settings: providers.${request.provider}.kind.`,
      };
    }
    if (session!.chat.turns.at(-1)?.role !== "You") {
      return {
        code: "last-word",
        message: "The last message is the model's, and a batch needs one of yours.",
      };
    }
    const problem = this.#purse.take(request);
    if (problem !== null) return problem;
    this.taken = request;
    this.#kind = kind;
    return null;
  }

  /** Returns the request as it goes into the batch; null if none was taken. */
  async collected(name: string, spool: Spool): Promise<CollectedRequest | null> {
    const { taken, session } = this;
    const path = session?.path ?? null;
    if (taken === null || session === null || path === null) return null;
    const { request, provider, model, tokens, cost } = taken;
    const bytes = session.chat.bytes as Uint8Array<ArrayBuffer>;
    const body = bodyBytes(request);
    const text = withoutStream(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body));
    return {
      name,
      path,
      bytes: bytes.length,
      text: await sha256(bytes),
      body: await sha256(body),
      lock: session.settings.lock.place,
      provider,
      kind: this.#kind!,
      model,
      url: request.url,
      headers: request.headers,
      tokens,
      cost,
      spooled: spool.add(new TextEncoder().encode(text)),
      given: this.#given,
    };
  }
}

export interface CollectOptions extends Omit<OwnOpenOptions, "batch" | "around" | "emit"> {
  readonly environment: Environment;
  readonly spool: Spool;
  readonly purse: Purse;
  /** Receives the events of a document. */
  readonly hear: (name: string) => Emit;
}

/** Returns the options of a send that hold for all requests of a conversation. */
function givenOptions(
  { environment, settings: { preset, configPath, noConfig, overrides } = {} }: Pick<
    CollectOptions,
    "environment" | "settings"
  >,
): GivenOptions {
  const { parameters, model } = overrides ?? {};
  return {
    ...(preset === undefined ? {} : { preset }),
    ...(configPath === undefined ? {} : { config: absolutePath(environment, configPath) }),
    ...(noConfig === true ? { noConfig } : {}),
    ...(typeof model === "string" ? { model } : {}),
    ...(isObject(parameters) ? { parameters } : {}),
  };
}

/** Returns the settings of a host with the options that a conversation was sent with. */
export function withGiven(
  settings: OwnOpenOptions["settings"],
  { provider, model, given = {} }: Pick<BatchHead, "provider" | "model" | "given">,
): NonNullable<OwnOpenOptions["settings"]> {
  const { overrides = {}, preset = given.preset } = settings ?? {};
  const own = isObject(overrides.parameters) ? overrides.parameters : {};
  const isOfPreset = preset !== undefined && given.model === undefined;
  return {
    ...withGivenConfig(settings, { given }),
    ...(preset === undefined ? {} : { preset }),
    overrides: {
      ...overrides,
      ...(isOfPreset ? {} : { provider, model }),
      parameters: { ...given.parameters, ...own },
    },
  };
}

/** Advances a document up to its next request, and takes this request. */
export async function collectRequest(
  name: string,
  { spool, purse, hear, ...options }: CollectOptions,
): Promise<CollectedRequest | LeftOut> {
  const taker = new RequestTaker(purse, givenOptions(options));
  const batch: BatchedRequest = { answer: null, take: (request) => taker.take(request) };
  const opened = await openChat(name, { ...options, emit: hear(name), batch });
  if (!opened.ok) return { name, why: problemLine(opened.problem), kind: "failed" };
  await using session = opened.value;
  taker.session = session;
  const placeholder = replyPlaceholder(session.chat);
  if (placeholder !== null) {
    return { name, why: `It is in the batch ${placeholder.batch} already.`, kind: "nothing" };
  }
  const stop = await session.advance();
  return await taker.collected(name, spool) ?? { name, ...reasonOf(stop) };
}

/** Returns why a run did not come to a request. */
export function reasonOf({ reason, ids, problem }: RunResult): Pick<LeftOut, "why" | "kind"> {
  const calls = ids.length === 1 ? "1 call waits" : `${ids.length} calls wait`;
  switch (reason) {
    case "answered":
      return { why: "It asks nothing.", kind: "nothing" };
    case "pending":
      return { why: `${calls} for you.`, kind: "person" };
    case "protected":
      return { why: `${calls} for you: there is text in an approved block.`, kind: "person" };
    default: {
      const kind = problem === undefined || PERSON.has(reason) ? "person" : "failed";
      return { why: problem === undefined ? `It stopped (${reason}).` : problemLine(problem), kind };
    }
  }
}

/** Reasons after which a person is needed, although they come with a problem. */
const PERSON: ReadonlySet<RunResult["reason"]> = new Set([
  "last-word",
  "batched",
  "repeats",
  "context-full",
  "budget",
  "hook",
  "hook-limit",
]);
