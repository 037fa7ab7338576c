// What readers of all providers share: their options, what is told once, and what must not count as whole.

import { providerError } from "../http/errors.ts";
import { toolName } from "../request/wire.ts";
import { count } from "./fields.ts";
import type { Effect, OfferedTool, ProviderError, StreamReader } from "../types.ts";

export interface ReaderOptions {
  /** Whose reasoning and signatures they are. */
  readonly provider: string;
  readonly offered: readonly OfferedTool[];
  readError(body: unknown, headers: Headers | null): ProviderError;
}

export abstract class ReplyReader implements StreamReader {
  protected readonly provider: string;
  /** Types that the person was told of as unknown. */
  readonly #unknown = new Set<string>();
  /** Tools whose input did not arrive whole, each once. */
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

  /** The closing event was seen. */
  protected close(): void {
    this.#closed = true;
  }

  /** The name under which this program offered a tool. */
  protected toolName(wire: string): string {
    return toolName(wire, this.#options.offered);
  }

  /** What the provider says in place of a reply. */
  protected error(body: unknown, headers: Headers | null = null): Effect {
    return { kind: "error", error: this.#options.readError(body, headers) };
  }

  /** The notice about a type that this program does not know, the first time: its content is not in the document. */
  protected unknownType(what: "block" | "part" | "item", type: unknown): Effect[] {
    const name = typeof type === "string" && type !== "" ? type : "without a name";
    if (this.#unknown.has(name)) return [];
    this.#unknown.add(name);
    const message = `The reply holds ${what === "item" ? "an" : "a"} ${what} of the type ${
      JSON.stringify(name.slice(0, 80))
    }, which this program does not know; it is left out.`;
    return [{ kind: "notice", message }];
  }

  /** Notes a call that must not run with half of its input; an empty name is that of a call whose beginning was lost. */
  protected incompleteCall(name: string): void {
    this.#incomplete.add(name === "" ? "a tool whose name was lost" : name);
  }

  /** The error of a reply with incomplete calls; nothing for any other. `cut`: it ended at its token limit. */
  protected incompleteCalls(cut: boolean): Effect[] {
    if (this.#incomplete.size === 0) return [];
    const names = [...this.#incomplete].join(", ");
    const message = cut
      ? `The reply reached its token limit inside the input of a call to ${names}; the call was not written.`
      : `The input of a call to ${names} was no JSON object or did not arrive whole; the call was not written.`;
    const error = providerError("other", message, cut ? { next: "Raise the parameter max_tokens." } : {});
    return [{ kind: "error", error }];
  }
}

/** How much of thinking that is written when it is whole has come. */
export function thinkingProgress(characters: number): Effect {
  return { kind: "progress", block: "thinking", characters };
}

/** How much of a call's input has come. */
export function callProgress(name: string, characters: number): Effect {
  return { kind: "progress", block: "call", name, characters };
}

/** A piece of the reply's text; nothing for an empty one. */
export function textPiece(text: string): Effect[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

/** Token counts of an API whose count of sent tokens includes cached ones; what is not a number counts as 0. */
export function tokenCounts(
  counts: Readonly<Record<"sent" | "output" | "thoughts" | "read" | "written", unknown>>,
): Effect {
  const read = count(counts.read) ?? 0;
  const written = count(counts.written) ?? 0;
  const usage = {
    input: Math.max(0, (count(counts.sent) ?? 0) - read - written),
    output: count(counts.output) ?? 0,
    thoughts: count(counts.thoughts) ?? 0,
    cache_read: read,
    cache_write: written,
  };
  return { kind: "usage", usage };
}
