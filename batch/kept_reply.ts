// Keeps a reply that its document cannot take, for `flemma recover`.

import type { Environment } from "../base/environment.ts";
import { keepText } from "../cycle/storage/saved_text.ts";
import { ReplyWriter } from "../cycle/send/reply.ts";
import { retentionOf } from "../cycle/send/report.ts";
import { openUsageLog } from "../cycle/usage/log.ts";
import { recordOf } from "../cycle/usage/record.ts";
import type { Settings } from "../config/settings.generated.ts";
import type { Effect, Provider, Usage } from "../providers/types.ts";
import { mergeUsage } from "../providers/models/usage.ts";
import type { BatchHead, BatchItem } from "./types.ts";

/** Returns the id under which the reply of a request is kept. */
export function savedReplyId({ item }: Pick<BatchItem, "item">): string {
  return `batch-${item}`;
}

/**
 * Saves a whole reply under an id that is always the same for the same request.
 *
 * @returns the id; null if the body is not a reply
 */
export async function keepReply(
  environment: Environment,
  { head, item, body, provider, settings, path }: {
    readonly head: BatchHead;
    readonly item: BatchItem;
    readonly body: unknown;
    readonly provider: Provider;
    readonly settings: Settings;
    /** The document; its usage is counted there. */
    readonly path: string;
  },
): Promise<string | null> {
  const effects = provider.reader().whole(body);
  if (effects === null) return null;
  const id = savedReplyId(item);
  await keepText(environment, id, new TextEncoder().encode(replyText(effects)));
  const usage = usageOf(effects);
  if (usage !== null) {
    const sent = new Date(head.time);
    await openUsageLog(environment).record(recordOf({
      begun: sent,
      seconds: 0,
      document: path,
      provider: head.provider,
      model: head.model,
      ended: "completed",
      usage: { ...usage, tier: "batch" },
      item: item.item,
    }, {
      settings,
      outputIncludesThoughts: provider.outputIncludesThoughts,
      retention: retentionOf(settings, head.provider),
    }));
  }
  return id;
}

function replyText(effects: readonly Effect[]): string {
  const writer = new ReplyWriter("@Assistant:\n");
  for (const effect of effects) writer.apply(effect);
  return writer.finish({ kind: "completed" }).map((piece) =>
    typeof piece === "string" ? piece : [...piece].join("")
  )
    .join("");
}

function usageOf(effects: readonly Effect[]): Usage | null {
  return effects.reduce<Usage | null>(
    (usage, effect) => effect.kind === "usage" ? mergeUsage(usage, effect.usage) : usage,
    null,
  );
}
