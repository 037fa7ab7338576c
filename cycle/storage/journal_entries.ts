// The entries of a journal: their kinds, how they are read, and the resulting state.

import type { FileRead } from "../../prompt/types.ts";
import { isThinkingEntry, thinkingEntries, thinkingState } from "./thinking_memory.ts";
import { isObject } from "../../base/is_object.ts";
import type {
  Approval,
  AskedQuestions,
  KnownCall,
  Reach,
  StartedCall,
  TamperedParts,
  ThinkingEntry,
  ThinkingState,
} from "../types.ts";
import {
  afterEntry,
  entriesOf,
  isReachEntry,
  isUnsettledEntry,
  NOTHING_UNSETTLED,
  type Unsettled,
  type UnsettledEntry,
  withSuspects,
} from "./unsettled.ts";

export type JournalEntry =
  | ({ readonly kind: "approval"; readonly id: string; readonly time?: string } & Approval)
  | ({ readonly kind: "start"; readonly id: string; readonly time: string } & StartedCall)
  | { readonly kind: "end"; readonly id: string; readonly ran?: true; readonly time?: string }
  | ({ readonly kind: "file" } & FileRead)
  | { readonly kind: "day"; readonly day: string }
  | { readonly kind: "body" | "result"; readonly id: string; readonly path: string }
  | { readonly kind: "unfinished" | "finished"; readonly ids: readonly string[] }
  | ({ readonly kind: "asked"; readonly id: string } & AskedQuestions)
  | ({ readonly kind: "held"; readonly id: string } & KnownCall)
  /** The approvals of a version without `held` entries were counted. */
  | { readonly kind: "counted" }
  | ({ readonly kind: "reached"; readonly by: string } & Reach)
  | { readonly kind: "left"; readonly by: string; readonly suspects: TamperedParts | null }
  | ThinkingEntry
  | UnsettledEntry;

/** The state that results from the entries of a journal. */
export class JournalState {
  readonly approvals = new Map<string, Approval>();
  /** Started calls that have not ended. */
  readonly started = new Map<string, StartedCall & { readonly time: string }>();
  /** Paths of saved results of calls that have not ended. */
  readonly results = new Map<string, string>();
  /** Hashes of other files as last sent. */
  readonly files = new Map<string, string>();
  /** Calls of replies that have not ended. */
  readonly unfinished = new Set<string>();
  /** Calls with a block. */
  readonly held = new Map<string, KnownCall>();
  /** Calls that ran, and that nobody was asked about or approved since, with the time of their end. */
  readonly ran = new Map<string, string>();
  /** Questions of servers in calls without a result. */
  readonly asked = new Map<string, AskedQuestions>();
  /** When the last decision about a call was recorded. */
  readonly decidedAt = new Map<string, string>();
  /** Commands of other documents that could write this one and are not known to have ended. */
  readonly reached = new Map<string, Reach>();
  #counted = false;
  #day: string | null = null;
  #unsettled = NOTHING_UNSETTLED;
  readonly #thinkingEntries: ThinkingEntry[] = [];
  /** Cached state of `#thinkingEntries`; null if it must be computed again. */
  #thinking: ThinkingState | null = null;

  constructor(entries: readonly JournalEntry[]) {
    for (const entry of entries) this.apply(entry);
  }

  /** Whether entries of an earlier version were counted, or entries of this version exist. */
  get counted(): boolean {
    return this.#counted;
  }

  /** The first recorded day. */
  get day(): string | null {
    return this.#day;
  }

  get unsettled(): Unsettled {
    return this.#unsettled;
  }

  get thinking(): ThinkingState {
    return this.#thinking ??= thinkingState(this.#thinkingEntries);
  }

  /** Applies an entry that was recorded after all earlier ones. */
  apply(entry: JournalEntry): void {
    switch (entry.kind) {
      case "approval":
        this.approvals.set(entry.id, approvalOf(entry));
        this.#unsettled = afterEntry(this.#unsettled, entry);
        if (isPersons(entry)) this.unfinished.delete(entry.id);
        this.ran.delete(entry.id);
        this.decidedAt.set(entry.id, entry.time ?? "");
        break;
      case "held":
        this.held.set(entry.id, heldOf(entry));
        this.ran.delete(entry.id);
        this.#counted = true;
        break;
      case "asked":
        this.asked.set(entry.id, { hash: entry.hash, state: entry.state });
        break;
      case "counted":
        this.#counted = true;
        break;
      case "reached":
        this.reached.set(entry.by, { owner: entry.owner, approved: entry.approved });
        break;
      case "left":
        this.reached.delete(entry.by);
        this.#unsettled = withSuspects(this.#unsettled, entry.suspects);
        break;
      case "unfinished":
        for (const id of entry.ids) this.unfinished.add(id);
        break;
      case "finished":
        for (const id of entry.ids) this.unfinished.delete(id);
        break;
      case "start":
        this.started.set(entry.id, startOf(entry));
        break;
      case "end":
        this.started.delete(entry.id);
        this.results.delete(entry.id);
        if (entry.ran === true) this.#ended(entry.id, entry.time ?? "");
        break;
      case "result":
        this.results.set(entry.id, entry.path);
        break;
      case "file":
        this.files.set(entry.path, entry.hash);
        break;
      case "day":
        this.#day ??= entry.day;
        break;
      case "body":
        break;
      case "thinking":
      case "stale":
      case "unread":
      case "note":
      case "sent":
        this.#thinkingEntries.push(entry);
        this.#thinking = null;
        break;
      case "exposed":
      case "settled":
        this.#unsettled = afterEntry(this.#unsettled, entry);
        break;
    }
  }

  /** A question about an earlier run permitted one run, which is now over. */
  #ended(id: string, time: string): void {
    this.ran.set(id, time);
    this.asked.delete(id);
    const held = this.held.get(id);
    if (held?.asked?.ran === true) this.held.set(id, { ...held, asked: { ...held.asked, ran: undefined } });
  }

  /** Returns the fewest entries that lead to the same state. */
  entries(): readonly JournalEntry[] {
    return [
      ...[...this.approvals].map((
        [id, approval],
      ) => ({ kind: "approval", id, ...approval, time: this.decidedAt.get(id) } as const)),
      ...[...this.held].map(([id, held]) => ({ kind: "held", id, ...held } as const)),
      ...[...this.reached].map(([by, reach]) => ({ kind: "reached", by, ...reach } as const)),
      ...(this.#counted ? [{ kind: "counted" } as const] : []),
      ...[...this.ran].map(([id, time]) => ({ kind: "end", id, ran: true, time } as const)),
      ...[...this.started].map(([id, start]) => ({ kind: "start", id, ...start } as const)),
      ...[...this.asked].map(([id, asked]) => ({ kind: "asked", id, ...asked } as const)),
      ...[...this.results].map(([id, path]) => ({ kind: "result", id, path } as const)),
      ...[...this.files].map(([path, hash]) => ({ kind: "file", path, hash } as const)),
      ...(this.#day === null ? [] : [{ kind: "day", day: this.#day } as const]),
      ...thinkingEntries(this.thinking),
      // These entries must come after the approvals, because a later approval would change the unsettled state again.
      ...entriesOf(this.#unsettled),
      ...(this.unfinished.size === 0 ? [] : [{ kind: "unfinished", ids: [...this.unfinished] } as const]),
    ];
  }
}

/** True if a person decided the call, and was not only asked about it. */
function isPersons({ by, asked }: Approval): boolean {
  return by === "person" && asked !== true;
}

function startOf({ tool, time, effects, reported }: Extract<JournalEntry, { kind: "start" }>) {
  const known = { tool, time, ...(reported === true ? { reported } : {}) };
  if (effects === undefined) return known;
  return { ...known, effects: effects === "none" || effects === "reads" ? effects : "writes" } as const;
}

function heldOf({ hash, turns, asked }: KnownCall): KnownCall {
  const hasRun = isObject(asked) && asked.ran === true;
  return { hash, turns, ...(hasRun ? { asked: { ran: true } } : {}) };
}

function approvalOf(entry: Approval): Approval {
  const { by, hash, permits, source, asked } = entry;
  return {
    by,
    hash,
    ...(permits === undefined ? {} : { permits }),
    ...(source === undefined ? {} : { source }),
    ...(asked === true ? { asked } : {}),
  };
}

/** Reads complete, valid lines; ignores others, such as the partial line left by a crash. */
export function readEntries(text: string): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      const value: unknown = JSON.parse(line);
      if (isEntry(value)) entries.push(value);
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw thrown;
    }
  }
  return entries;
}

function isEntry(value: unknown): value is JournalEntry {
  if (typeof value !== "object" || value === null) return false;
  const entry = value as Record<string, unknown>;
  if (entry.kind === "file") return typeof entry.path === "string" && typeof entry.hash === "string";
  if (entry.kind === "day") return typeof entry.day === "string" && /^\d{4}-\d\d-\d\d$/.test(entry.day);
  if (entry.kind === "counted") return true;
  if (entry.kind === "reached" || entry.kind === "left") {
    return typeof entry.by === "string" && isReachEntry(entry);
  }
  if (entry.kind === "unfinished" || entry.kind === "finished") {
    return Array.isArray(entry.ids) && entry.ids.every((id) => typeof id === "string");
  }
  if (isUnsettledEntry(entry) || isThinkingEntry(entry)) return true;
  if (typeof entry.id !== "string") return false;
  switch (entry.kind) {
    case "approval":
      return (entry.by === "policy" || entry.by === "person") && typeof entry.hash === "string" &&
        (entry.permits === undefined || typeof entry.permits === "string");
    case "start":
      return typeof entry.tool === "string";
    case "asked":
      return typeof entry.hash === "string" && typeof entry.state === "string";
    case "end":
      return true;
    case "held":
      return typeof entry.hash === "string" && Array.isArray(entry.turns) &&
        entry.turns.every((turn) => typeof turn === "string");
    case "body":
    case "result":
      return typeof entry.path === "string";
    default:
      return false;
  }
}
