// Compares the program's table of models with the vendors' own lists, for those whose key is set: deno task models.

import { fetchModels } from "../../agent/views/models.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { dayOf, isGone, pricesAt } from "../../providers/models/find.ts";
import type { ListedFacts } from "../../providers/models/listing.ts";
import { listedModels } from "../../providers/models/table.ts";
import { providersInUse } from "../../providers/registry.ts";
import { print } from "../gate/root.ts";

/**
 * Returns one line for each difference between a vendor's list and the table: models that only one of them has, and
 * limits and prices that differ. A fact that the list does not state is not compared. Empty for a vendor whose models
 * are not in the table.
 */
export function differences(provider: string, listed: ListedFacts, day: string): readonly string[] {
  const table = listedModels(provider);
  if (table.length === 0) return [];
  const names = new Set(table.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  const changed = table.flatMap((model) => {
    const found = [model.id, ...model.aliases ?? []].find((name) => Object.hasOwn(listed, name));
    if (found === undefined) return isGone(model, day) ? [] : [`${model.id}: not in the vendor's list`];
    const { context, max_output: output, prices, ends } = listed[found]!;
    const own = pricesAt(model, day, 0);
    const rows: readonly (readonly [string, unknown, unknown])[] = [
      ["context", model.context, context],
      ["max_output", model.maxOutput, output],
      ["input price", own?.input, prices?.input],
      ["output price", own?.output, prices?.output],
      ["ends", model.ends, ends],
    ];
    return [
      ...(isGone(model, day) ? [`${model.id}: still in the vendor's list`] : []),
      ...rows.filter(([, known, stated]) => stated !== undefined && known !== stated)
        .map(([what, known, stated]) => `${model.id}: ${what} is ${known ?? "unknown"}, listed as ${stated}`),
    ];
  });
  const added = Object.keys(listed).filter((name) => !names.has(name));
  return [...changed, ...added.map((name) => `${name}: not in the table`)];
}

if (import.meta.main) {
  const variables = Deno.env.toObject();
  const environment = { cwd: Deno.cwd(), home: variables.HOME ?? "/", variables };
  let isDifferent = false;
  for (const provider of providersInUse(DEFAULT_SETTINGS, variables)) {
    const listed = await fetchModels({ environment, settings: DEFAULT_SETTINGS, provider });
    const lines = listed.ok
      ? differences(provider, listed.value, dayOf(new Date()))
      : [`not compared: ${listed.problem.message}`];
    isDifferent ||= listed.ok && lines.length > 0;
    print([provider, ...lines.map((line) => `  ${line}`)].join("\n"));
  }
  Deno.exit(isDifferent ? 1 : 0);
}
