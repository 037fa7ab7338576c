// The approval rules in force: those of `tools.rules` in every layer, and the short forms in lists and presets.

import type { PlacedRule, Rule } from "../rules/rule.ts";
import { isShortRule, readRule, readShortRule } from "../rules/read_rule.ts";
import type { AutoApprove, DocumentApproval, Presets } from "../values.ts";
import type { Layer, Op } from "../types.ts";
import type { LayerLog } from "./log.ts";
import { allPresets, expandList, writtenPresets } from "./presets.ts";
import { profileOf } from "./resolve.ts";

type RuleLayer = PlacedRule["layer"];

/** What lists say beside `tools.rules`. */
export interface ListedApproval {
  /** The person's list. */
  readonly auto_approve: AutoApprove | null;
  readonly excluded: readonly string[];
  /** Denials of a project that nobody trusts. */
  readonly denied: readonly string[];
  /** Names and rules approved for this run. */
  readonly approved: readonly string[];
  readonly document: DocumentApproval | null;
}

/**
 * All rules of these layers. Order and layer do not matter to rules, so every layer's count; only where a document has
 * taken a tool out, or has a list of its own, do approvals of files keep silent for it.
 */
export function currentRules(logs: readonly LayerLog[], listed: ListedApproval): readonly PlacedRule[] {
  const own = logs.flatMap((log) =>
    log.layer === "D" ? [] : itemsOf(log.on("tools.rules")).flatMap((written): PlacedRule[] => {
      const read = readRule(written);
      return read.ok
        ? [{ rule: read.value, written, key: "tools.rules", layer: log.layer as RuleLayer }]
        : [];
    })
  );
  const all = [...own, ...listedRules(logs, listed)];
  return listed.document === null ? all : all.flatMap((placed) => silenced(placed, listed.document!));
}

/** The items that operations on one list come to; a list that is set takes the place of what was said before. */
export function itemsOf(
  operations: readonly { readonly op: Op; readonly value: unknown }[],
): readonly unknown[] {
  let items: unknown[] = [];
  for (const { op, value } of operations) {
    if (op === "set") items = Array.isArray(value) ? [...value] : [];
    else if (op === "append") items.push(value);
    else if (op === "prepend") items.unshift(value);
    else items = items.filter((item) => JSON.stringify(item) !== JSON.stringify(value));
  }
  return items;
}

/** A rule as it counts for a document with a list of its own, or without a tool. */
function silenced(placed: PlacedRule, document: DocumentApproval): PlacedRule[] {
  const { rule, layer, key } = placed;
  const isPersons = layer === "C" || layer === "R" || layer === "M";
  // What stands in lists was merged with the document's own list before.
  if (rule.decision !== "approve" || isPersons || key !== "tools.rules") return [placed];
  if (document.assigned) return [];
  const tools = rule.tools.filter((name) => !document.removed.includes(name));
  return tools.length === 0 ? [] : [{ ...placed, rule: { ...rule, tools } }];
}

function listedRules(logs: readonly LayerLog[], listed: ListedApproval): PlacedRule[] {
  const { auto_approve, excluded, denied, approved, document } = listed;
  const presets = allPresets(logs.filter(({ layer }) => layer !== "M"), profileOf(logs));
  const found: PlacedRule[] = [];
  const add = (item: string, decision: Rule["decision"], from: Pick<PlacedRule, "key" | "layer">) => {
    const read = isShortRule(item) ? readShortRule(item, decision) : null;
    if (read?.ok) found.push({ rule: read.value, written: item, ...from });
  };
  const list = (value: AutoApprove | null, known: Presets, without: readonly string[], approves: boolean) => {
    const entries = Array.isArray(value) ? value as readonly string[] : [];
    const { approve, deny } = expandList(entries, known, without);
    for (const item of approves ? approve : []) add(item, "approve", placeOf(logs, item));
    for (const item of deny) add(item, "deny", placeOf(logs, item));
  };
  // The document's list speaks instead of the person's, whose denials stay.
  list(auto_approve, presets, excluded, document === null);
  if (document !== null) {
    list(document.auto_approve, { ...presets, ...document.presets }, document.excluded, true);
  }
  for (const item of denied) add(item, "deny", { key: "tools.auto_approve", layer: "P" });
  const now = expandList(approved, presets);
  for (const item of now.approve) add(item, "approve", { key: "tools.auto_approve", layer: "C" });
  for (const item of now.deny) add(item, "deny", { key: "tools.auto_approve", layer: "C" });
  return found;
}

/** The strongest layer and the key that say an item of a list or of a preset. */
function placeOf(logs: readonly LayerLog[], item: string): Pick<PlacedRule, "key" | "layer"> {
  for (const log of [...logs].reverse()) {
    const listed = log.on("tools.auto_approve").some(({ op, value }) =>
      op !== "remove" && [value].flat().includes(item)
    );
    if (listed) return { key: "tools.auto_approve", layer: ruleLayer(log.layer) };
    for (const [name, { approve = [], deny = [] }] of Object.entries(writtenPresets([log]))) {
      if (approve.includes(item) || deny.includes(item)) {
        return { key: `presets.${name}`, layer: ruleLayer(log.layer) };
      }
    }
  }
  return { key: "tools.auto_approve", layer: "G" };
}

function ruleLayer(layer: Layer): RuleLayer {
  return layer === "D" ? "G" : layer;
}
