// State about replies that the document itself cannot hold, mainly about signed thinking. It contains digests, never
// the text of thinking.

import type { ThinkingEntry, ThinkingRecord, ThinkingState } from "../types.ts";

export const NO_THINKING: ThinkingState = {
  records: new Map(),
  stale: new Set(),
  unread: new Set(),
  sent: [],
  notes: new Map(),
};

/** Returns the state that results from entries in their order. */
export function thinkingState(entries: readonly ThinkingEntry[]): ThinkingState {
  const records = new Map<string, ThinkingRecord>();
  const stale = new Set<string>();
  const unread = new Set<string>();
  const notes = new Map<string, string>();
  let sent: string[] = [];
  for (const entry of entries) {
    switch (entry.kind) {
      case "thinking": {
        const { kind: _kind, ...record } = entry;
        records.set(entry.key, record);
        break;
      }
      case "stale":
        for (const key of entry.keys) stale.add(key);
        break;
      case "unread":
        for (const key of entry.keys) unread.add(key);
        break;
      case "note":
        notes.set(entry.key, entry.value);
        break;
      case "sent":
        sent = [...sent.slice(0, entry.from), ...entry.pieces];
        break;
    }
  }
  return { records, stale, unread, sent, notes };
}

/** Returns the fewest entries that lead to a state. */
export function thinkingEntries(
  { records, stale, unread, sent, notes }: ThinkingState,
): readonly ThinkingEntry[] {
  return [
    ...[...records.values()].map((record) => ({ kind: "thinking" as const, ...record })),
    ...(stale.size === 0 ? [] : [{ kind: "stale" as const, keys: [...stale] }]),
    ...(unread.size === 0 ? [] : [{ kind: "unread" as const, keys: [...unread] }]),
    ...[...notes].map(([key, value]) => ({ kind: "note" as const, key, value })),
    ...(sent.length === 0 ? [] : [{ kind: "sent" as const, from: 0, pieces: sent }]),
  ];
}

/** True if a line of a journal is a valid entry of this kind. */
export function isThinkingEntry(value: object): value is ThinkingEntry {
  const entry = value as Readonly<Record<string, unknown>>;
  const isText = (value: unknown) => typeof value === "string";
  const isTextOrNull = (value: unknown) => value === null || isText(value);
  const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
  switch (entry.kind) {
    case "thinking":
      return [entry.key, entry.text, entry.model].every(isText) &&
        [entry.prefix, entry.before].every(isTextOrNull);
    case "stale":
    case "unread":
      return isTexts(entry.keys);
    case "note":
      return isText(entry.key) && isText(entry.value);
    case "sent":
      return Number.isInteger(entry.from) && Number(entry.from) >= 0 && isTexts(entry.pieces);
    default:
      return false;
  }
}
