// Batches for programs: send documents, and fetch their replies, with what became of each as a value.

import type { CycleEvent } from "../cycle/types.ts";
import type { ChatOptions } from "../agent/types.ts";
import { processEnvironment, systemFor } from "../base/environment.ts";
import { type Outcome, type Problem, success } from "../base/problem.ts";
import { journalProblem } from "./journal.ts";
import type { SendEvent } from "./send.ts";
import type { LeftOut } from "./collect.ts";
import type { FetchEvent } from "./fetch.ts";

/** Options for sending documents as batches, and for fetching their replies. */
export interface BatchChatOptions extends Omit<ChatOptions, "emit"> {
  /** Documents to work on in parallel. @default 1 */
  readonly jobs?: number;
  /** Returns the receiver of the events of a document, by the name it was given. @default nobody receives them */
  readonly hear?: (name: string) => (event: CycleEvent) => void;
}

/** Options for fetching. */
export interface FetchBatchOptions extends BatchChatOptions {
  /** Documents to fetch, wherever they lie. @default all that are out */
  readonly files?: readonly string[];
  /** Most further batches, for documents whose models called tools. With 0, no calls run. @default 1 */
  readonly rounds?: number;
  /** True to wait until nothing is out any more. @default false */
  readonly waits?: boolean;
}

/** What became of one document. */
export interface BatchedDocument {
  /** The document as it was named. */
  readonly name: string;
  /**
   * `sent`: its request is in a batch. `written`: the reply is in it. `kept`: the document was changed, so the reply is
   * kept. `freed`: no reply comes. `left`: it is not in a batch, or could not take its reply yet.
   */
  readonly outcome: "sent" | "written" | "kept" | "freed" | "left";
  /** Why, or the id of the kept reply for `flemma recover`; absent for `sent` and for a complete reply. */
  readonly detail?: string;
}

/** What a send or a fetch did. */
export interface BatchResult {
  /** The documents that something happened to, in that order. */
  readonly documents: readonly BatchedDocument[];
  /** Faults of whole batches, such as one that the provider refused. */
  readonly problems: readonly Problem[];
  /** Documents that are out now. */
  readonly out: number;
}

/**
 * Sends the next requests of documents as batches, at half price.
 *
 * @param files the documents
 * @param options the options of the host
 * @returns what became of each document. Fails with `state-unwritable` if the journal cannot be written, and with
 * `runtime-unsupported` outside of Deno.
 */
export async function sendBatch(
  files: readonly string[],
  options: BatchChatOptions = {},
): Promise<Outcome<BatchResult>> {
  const system = systemFor("sendBatch");
  if (!system.ok) return system;
  const { countOut, sendDocuments } = await import("./mod.ts");
  const result = new BatchOutcomes();
  const environment = options.environment ?? processEnvironment();
  try {
    await sendDocuments(files, {
      ...options,
      environment,
      jobs: options.jobs ?? 1,
      hear: options.hear ?? (() => () => {}),
      tell: (event) => result.event(event),
    });
  } catch (thrown) {
    return { ok: false, problem: journalProblem(thrown) };
  }
  return success({ ...result.value, out: await countOut(environment) });
}

/**
 * Fetches the replies of batches, and sends the next requests of documents whose models called tools.
 *
 * @param options the options of the host
 * @returns what became of each document. Fails with `state-unwritable` if the journal cannot be written, and with
 * `runtime-unsupported` outside of Deno.
 */
export async function fetchBatch(options: FetchBatchOptions = {}): Promise<Outcome<BatchResult>> {
  const system = systemFor("fetchBatch");
  if (!system.ok) return system;
  const { fetchDocuments } = await import("./mod.ts");
  const result = new BatchOutcomes();
  try {
    const { out } = await fetchDocuments({
      ...options,
      environment: options.environment ?? processEnvironment(),
      jobs: options.jobs ?? 1,
      files: options.files ?? [],
      rounds: options.rounds ?? 1,
      waits: options.waits ?? false,
      finishesLive: false,
      hear: options.hear ?? (() => () => {}),
      tell: (event) => result.event(event),
    });
    return success({ ...result.value, out });
  } catch (thrown) {
    return { ok: false, problem: journalProblem(thrown) };
  }
}

/** Collects what happened to documents and batches. */
export class BatchOutcomes {
  readonly #documents: BatchedDocument[] = [];
  readonly #problems: Problem[] = [];

  get value(): Omit<BatchResult, "out"> {
    return { documents: this.#documents, problems: this.#problems };
  }

  event(event: FetchEvent | SendEvent | LeftOut): void {
    switch (event.kind) {
      case "person":
      case "nothing":
      case "failed":
        if ("why" in event) this.#documents.push({ name: event.name, outcome: "left", detail: event.why });
        else this.#problems.push(event.problem);
        return;
      case "sent":
        for (const { name } of event.items) this.#documents.push({ name, outcome: "sent" });
        return;
      case "dropped":
      case "stuck":
        this.#documents.push({ name: event.name, outcome: "left", detail: event.problem.message });
        return;
      case "missing":
        this.#documents.push({
          name: event.item.name,
          outcome: "left",
          detail: `It is not at ${event.item.path}.`,
        });
        return;
      case "elsewhere":
        this.#documents.push({
          name: event.name,
          outcome: "left",
          detail: event.kept === null
            ? `The reply went to ${event.path}.`
            : `The reply is kept: flemma recover ${event.kept}`,
        });
        return;
      case "damaged":
        this.#problems.push({ code: "batch-damaged", message: `The journal ${event.path} is damaged.` });
        return;
      case "refused":
      case "unclear":
        this.#problems.push(event.problem);
        return;
      case "gone":
        this.#problems.push({
          code: "batch-gone",
          message: `The batch ${event.record.head.id}: ${event.why}.`,
        });
        return;
      case "delivered":
        this.#delivered(event);
    }
  }

  #delivered({ name, delivery }: Extract<FetchEvent, { kind: "delivered" }>): void {
    switch (delivery.kind) {
      case "written": {
        const { left, stop: { problem, reason } } = delivery;
        const why = problem?.message ?? (reason === "cut" ? "The reply is incomplete." : reason);
        const detail = left === "nothing" && reason !== "cut" ? {} : { detail: why };
        this.#documents.push({ name, outcome: "written", ...detail });
        return;
      }
      case "kept":
        this.#documents.push({ name, outcome: "kept", detail: delivery.id });
        return;
      case "freed":
        this.#documents.push({ name, outcome: "freed", detail: delivery.why });
        return;
      case "later":
        this.#documents.push({ name, outcome: "left", detail: delivery.problem.message });
    }
  }
}
