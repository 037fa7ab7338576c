// Common base of the providers' stream readers: options, one-time notices, and incomplete calls.

import { providerError } from "../http/errors.ts";
import { toolName } from "../request/wire.ts";
import { numberOrNull } from "./fields.ts";
import type { Effect, OfferedTool, ProviderError, StreamReader } from "../types.ts";

export interface ReaderOptions {
  /** Name of the provider in signatures. */
  readonly provider: string;
  readonly offered: readonly OfferedTool[];
  readError(body: unknown, headers: Headers | null): ProviderError;
}

export abstract class ReplyReader implements StreamReader {
  protected readonly provider: string;
  readonly #unknown = new Set<string>();
  readonly #incomplete = new Set<string>();
  readonly #options: ReaderOptions;
  #closed = false;

  constructor(options: ReaderOptions) {
    this.provider = options.provider;
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  abstract event(data: unknown, headers?: Headers | null, source?: string): Effect[];

  abstract damaged(): void;

  abstract whole(body: unknown): Effect[] | null;

  protected close(): void {
    this.#closed = true;
  }

  /** Returns the name under which the tool was offered. */
  protected toolName(wire: string): string {
    return toolName(wire, this.#options.offered);
  }

  /** Creates the effect for an error sent in place of a reply. */
  protected error(body: unknown, headers: Headers | null = null): Effect {
    return { kind: "error", error: this.#options.readError(body, headers) };
  }

  /** Reports an unknown type the first time it occurs, because its content is missing from the document. */
  protected unknownType(what: "block" | "part" | "item" | "event", type: unknown): Effect[] {
    const name = typeof type === "string" && type !== "" ? type : "without a name";
    if (this.#unknown.has(name)) return [];
    this.#unknown.add(name);
    const message = `The reply contains ${
      what === "item" || what === "event" ? "an" : "a"
    } ${what} of the unknown type ${JSON.stringify(name.slice(0, 80))}, which is left out.`;
    return [{ kind: "notice", message, ...(what === "event" ? { isAside: true } : {}) }];
  }

  /** Records a call that must not run with incomplete input; an empty name means that its start was lost. */
  protected incompleteCall(name: string): void {
    this.#incomplete.add(name === "" ? "a tool whose name did not arrive" : name);
  }

  /**
   * Creates the error of a reply with incomplete calls, if any. `cut` is true if the reply ended at its token limit.
   */
  protected incompleteCalls(cut: boolean): Effect[] {
    if (this.#incomplete.size === 0) return [];
    const names = [...this.#incomplete].join(", ");
    const message = cut
      ? `The reply reached its token limit inside the input of a call to ${names}; the call was not written.`
      : `The input of a call to ${names} was not a JSON object or was incomplete; the call was not written.`;
    const error = providerError("other", message, cut ? { next: "Raise the parameter max_tokens." } : {});
    return [{ kind: "error", error }];
  }
}

/** Reports the progress of thinking, which is written when complete. */
export function thinkingProgress(characters: number): Effect {
  return { kind: "progress", block: "thinking", characters };
}

export function callProgress(name: string, characters: number): Effect {
  return { kind: "progress", block: "call", name, characters };
}

export function textPiece(text: string): Effect[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

/** Counts tokens for an API whose sent tokens include cached ones. Values that are not numbers count as 0. */
export function tokenCounts(
  counts: Readonly<Record<"sent" | "output" | "thoughts" | "read" | "written" | "tier", unknown>>,
): Effect {
  const read = numberOrNull(counts.read) ?? 0;
  const written = numberOrNull(counts.written) ?? 0;
  const usage = {
    input: Math.max(0, (numberOrNull(counts.sent) ?? 0) - read - written),
    output: numberOrNull(counts.output) ?? 0,
    thoughts: numberOrNull(counts.thoughts) ?? 0,
    cache_read: read,
    cache_write: written,
    ...(typeof counts.tier === "string" && counts.tier !== "" ? { tier: counts.tier } : {}),
  };
  return { kind: "usage", usage };
}
