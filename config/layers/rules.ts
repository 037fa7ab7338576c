// The effective approval rules: `tools.rules` of every layer, and short forms in lists and presets.

import type { PlacedRule, Rule } from "../rules/rule.ts";
import { isShortRule, readRule, readShortRule } from "../rules/read_rule.ts";
import type { AutoApprove, DocumentApproval, Presets } from "../values.ts";
import type { Layer, Op } from "../types.ts";
import type { LayerLog } from "./log.ts";
import { allPresets, collectPresets, expandList } from "./presets.ts";
import { profileOf } from "./resolve.ts";

type RuleLayer = PlacedRule["layer"];

/** Approvals from lists, in addition to `tools.rules`. */
export interface ListedApproval {
  readonly auto_approve: AutoApprove | null;
  readonly excluded: readonly string[];
  /** Denials of an untrusted project. */
  readonly denied: readonly string[];
  /** Names and rules approved for this run. */
  readonly approved: readonly string[];
  readonly document: DocumentApproval | null;
}

/**
 * Returns all rules of these layers. Order and layer do not matter, so rules of every layer apply. The exception: if a
 * document removes a tool or has its own list, approvals for it from settings files do not apply.
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

/** Returns the items that operations on one list produce; `set` replaces earlier items. */
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

/** Returns a rule as it applies to a document that has its own list or removed tools. */
function silenced(placed: PlacedRule, document: DocumentApproval): PlacedRule[] {
  const { rule, layer, key } = placed;
  const isPersons = layer === "C" || layer === "R" || layer === "M";
  // Rules in lists were already merged with the document's own list.
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
  // The document's list replaces the person's, except for the person's denials.
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

/** Returns the layer with the highest precedence that contains an item of a list or preset, and the key. */
function placeOf(logs: readonly LayerLog[], item: string): Pick<PlacedRule, "key" | "layer"> {
  for (const log of [...logs].reverse()) {
    const listed = log.on("tools.auto_approve").some(({ op, value }) =>
      op !== "remove" && [value].flat().includes(item)
    );
    if (listed) return { key: "tools.auto_approve", layer: ruleLayer(log.layer) };
    for (const [name, { approve = [], deny = [] }] of Object.entries(collectPresets([log]))) {
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
