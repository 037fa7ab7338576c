// `flemma estimate`: estimates how many tokens a document would send, and their cost.

import type { Estimate } from "../../cycle/send/estimate.ts";
import { visible } from "../../base/visible.ts";
import { openForReport } from "../document/open.ts";
import type { Invocation } from "../invocation.ts";
import { formatCount, money, percent } from "../io/amounts.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";

export async function run(invocation: Invocation): Promise<number> {
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened.exit;
  await using session = opened.session;
  for (const notice of session.loaded.notices) invocation.messages.notice(notice);
  const estimate = await session.estimate();
  if (!estimate.ok) return refuse(invocation, estimate.problem);
  if (switchOption(invocation.arguments, "json") === true) writeOutput(`${safeJson(estimate.value)}\n`);
  else writeOutput(`${visible(words(estimate.value, session.settings.ui.pricing.enabled))}\n`);
  return Exit.ok;
}

/**
 * Formats an estimate, as in `12,345 input tokens · $0.037 · claude-sonnet-5-5 ($3 in, $15 out per million) · 1 % of
 * the window`.
 */
function words({ model, tokens, rough, context, prices, cost }: Estimate, showPrices: boolean): string {
  const known = showPrices && prices !== null && cost !== null;
  return [
    `${rough ? "about " : ""}${formatCount(tokens)} input tokens${rough ? " (a quarter of the bytes)" : ""}`,
    ...(known ? [money(cost)] : []),
    known ? `${model} (${money(prices.input)} in, ${money(prices.output)} out per million)` : model,
    ...(context === null ? [] : [`${percent(tokens / context)} of the window`]),
  ].join(" · ");
}
