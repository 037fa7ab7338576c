// Finds the batch API of a provider.

import type { Settings } from "../../config/settings.generated.ts";
import type { BatchKind } from "../types.ts";
import { anthropicBatches } from "./anthropic.ts";
import type { BatchApi } from "./api.ts";
import { geminiBatches } from "./google.ts";
import { openaiBatches } from "./openai.ts";

export const BATCH_APIS: Readonly<Record<BatchKind, BatchApi>> = {
  anthropic: anthropicBatches,
  openai: openaiBatches,
  gemini: geminiBatches,
};

/** The providers that are known to take batches. */
const KNOWN: ReadonlySet<string> = new Set(["anthropic", "openai", "gemini"]);

/** True if the list of a provider proves that a batch does not exist. That of another vendor may leave batches out. */
export function listsEveryBatch(provider: string): boolean {
  return KNOWN.has(provider);
}

/** Kinds of providers, and their batch APIs. */
const KINDS: Readonly<Record<string, BatchKind>> = {
  anthropic: "anthropic",
  openai: "openai",
  openai_chat: "openai",
  gemini: "gemini",
};

/**
 * Returns the batch API of a provider; null if it has none. Of other vendors, only those that the person's settings name
 * with a kind are tried.
 */
export function batchKindOf(
  { provider, kind }: { readonly provider: string; readonly kind: string },
  settings: Pick<Settings, "providers">,
): BatchKind | null {
  const isNamed = settings.providers[provider]?.kind !== undefined &&
    settings.providers[provider]?.kind !== null;
  if (!KNOWN.has(provider) && !isNamed) return null;
  return Object.hasOwn(KINDS, kind) ? KINDS[kind]! : null;
}
