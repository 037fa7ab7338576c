// What is remembered of replies that their document cannot hold, of signed thinking above all: by digests only, never its
// text (providers-2026-11, 1.3.1).

/** Where a block of thinking was made: what it belongs to, so that a change of that is seen before sending. */
export interface ThinkingRecord {
  /** Digest of its signature. */
  readonly key: string;
  /** Digest of its text. */
  readonly text: string;
  /** Digest of everything that was sent before it, thinking apart; null when its model does not look at that. */
  readonly prefix: string | null;
  /** Key of the thinking before it, or null. */
  readonly before: string | null;
  /** Who made it. */
  readonly model: string;
}

/** Entries of a document's journal. */
export type ThinkingEntry =
  | ({ readonly kind: "thinking" } & ThinkingRecord)
  /** Thinking that is left out for good: putting it back would spoil what was made without it. */
  | { readonly kind: "stale"; readonly keys: readonly string[] }
  /** Thinking of which the person was told that the model or account of the time could not read it. */
  | { readonly kind: "unread"; readonly keys: readonly string[] }
  /** Something that a provider wants to hear again with a reply: what is said of the thing with this digest. */
  | { readonly kind: "note"; readonly key: string; readonly value: string }
  /** Digests of the pieces of the last request, from the one on that differs from those of the request before. */
  | { readonly kind: "sent"; readonly from: number; readonly pieces: readonly string[] };

/** All that is remembered of a document's thinking. */
export interface ThinkingMemory {
  readonly thinking: ThinkingState;
  recordThinking(entries: readonly ThinkingEntry[]): Promise<void>;
}

export interface ThinkingState {
  readonly records: ReadonlyMap<string, ThinkingRecord>;
  readonly stale: ReadonlySet<string>;
  readonly unread: ReadonlySet<string>;
  readonly sent: readonly string[];
  readonly notes: ReadonlyMap<string, string>;
}

export const NO_THINKING: ThinkingState = {
  records: new Map(),
  stale: new Set(),
  unread: new Set(),
  sent: [],
  notes: new Map(),
};

/** What entries come to, in their order. */
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

/** The fewest entries that lead to a state. */
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

/** Whether a line of a journal is such an entry, whole. */
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
