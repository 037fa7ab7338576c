// Types of batches: what was sent, what the provider says about it, and what became of each request.

import type { Settings } from "../config/settings.generated.ts";

/** A request of a batch, and the document that it belongs to. */
export interface BatchItem {
  /** Id of the request: a digest that names no file. */
  readonly item: string;
  /** Real path of the document when it was sent. */
  readonly path: string;
  /** The document as the person named it. */
  readonly name: string;
  /** Number of bytes of the document when it was sent. */
  readonly bytes: number;
  /** SHA-256 of these bytes. */
  readonly text: string;
  /** SHA-256 of the body of the request. */
  readonly body: string;
  /** Where the lock of the document is. */
  readonly lock: Settings["lock"]["place"];
}

/** What the requests of one batch have in common. */
export interface BatchHead {
  /** Id of the batch on this machine, which the placeholders name. */
  readonly id: string;
  readonly provider: string;
  /** API of the batch. */
  readonly kind: BatchKind;
  readonly model: string;
  /** URL to which each request alone would have been sent. */
  readonly url: string;
  /** Time at which the batch was made, as `2026-11-28T12:00:00.000Z`. */
  readonly time: string;
  /** Number of requests. */
  readonly count: number;
  /** Options of the send that later rounds keep; absent if there were none. */
  readonly given?: GivenOptions;
}

/** Options of a send that hold for all requests of a conversation. */
export interface GivenOptions {
  readonly preset?: string;
  /** Absolute path of the settings file that was used instead of the usual ones. */
  readonly config?: string;
  /** True if no settings files were used. */
  readonly noConfig?: true;
  /** The model if an option named it. It then replaces that of the preset, with the preset's parameters. */
  readonly model?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** The batch APIs. */
export type BatchKind = "anthropic" | "openai" | "gemini";

/** What became of a request. */
export type ItemEnd =
  /** The reply is in the document. */
  | "written"
  /** The document had changed, so the reply is kept for `flemma recover`. */
  | "kept"
  /** The request brought no reply, and the document is free again. */
  | "freed";

/** Progress of a batch at the provider. */
export type BatchState =
  | { readonly kind: "working"; readonly done: number | null }
  /** All results that will come are there. */
  | { readonly kind: "ended"; readonly results: readonly ResultSource[]; readonly isExpired: boolean }
  /** The provider refused the whole batch, or no longer has its results. `line` is the first faulty request, from 1. */
  | { readonly kind: "failed"; readonly message: string; readonly line?: number };

/** Where results are: at an address, or in what was already received. */
export type ResultSource =
  | { readonly kind: "lines"; readonly url: string }
  | { readonly kind: "rows"; readonly rows: readonly unknown[] };

/** A whole reply, or the error of a request. */
export type AnsweredResult =
  | { readonly kind: "message"; readonly body: unknown }
  | { readonly kind: "error"; readonly status: number; readonly body: unknown };

/** The result of one request. */
export interface ItemResult {
  readonly item: string;
  readonly result: AnsweredResult | NoResult;
}

/** Why a request has no result. `deleted`: the provider kept it only for some time. `lost`: it brought none. */
export interface NoResult {
  readonly kind: "expired" | "canceled" | "deleted" | "lost";
}
