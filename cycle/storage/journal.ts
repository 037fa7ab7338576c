// What one document's runs remember outside of it: who approved what, what was started, what was overwritten, which
// content of other files was sent.

import { createFile, isMissing, replaceSmallFile, writeAll } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { parentOf } from "../../base/paths.ts";
import type { FileRead } from "../../prompt/types.ts";
import type {
  Approval,
  Exposure,
  ExposureMemory,
  FileMemory,
  Journal,
  ReplyMemory,
  Suspects,
} from "../types.ts";
import { documentKey, stateFolder, timestamp } from "./state_files.ts";
import {
  isThinkingEntry,
  thinkingEntries,
  type ThinkingEntry,
  type ThinkingMemory,
  type ThinkingState,
  thinkingState,
} from "../thinking_memory.ts";
import {
  afterEntry,
  entriesOf,
  isUnsettledEntry,
  NOTHING_UNSETTLED,
  type UnsettledEntry,
} from "../unsettled.ts";

type Entry =
  | ({ readonly kind: "approval"; readonly id: string } & Approval)
  | { readonly kind: "start"; readonly id: string; readonly tool: string; readonly time: string }
  | { readonly kind: "end"; readonly id: string }
  | ({ readonly kind: "file" } & FileRead)
  | { readonly kind: "day"; readonly day: string }
  | { readonly kind: "body" | "result"; readonly id: string; readonly path: string }
  | { readonly kind: "unfinished" | "finished"; readonly ids: readonly string[] }
  | ThinkingEntry
  | UnsettledEntry;

/** Journals larger than this are rewritten without what is over. */
const COMPACT_BYTES = 256 * 1024;

/** All that is remembered about one document. */
export type DocumentMemory = Journal & FileMemory & ExposureMemory & ReplyMemory & ThinkingMemory;

/**
 * The journal of the document at `path`, or one that ends with the process when it is null (unsaved). Opening only reads:
 * folder and file are made, and a large file is rewritten, when there is something to record.
 */
export async function openJournal(options: {
  readonly environment: Environment;
  readonly path: string | null;
}): Promise<Outcome<DocumentMemory>> {
  const { environment, path } = options;
  const folder = `${stateFolder(environment)}/journal`;
  if (path === null) return success(new RunJournal(environment, "unsaved", null, [], false));
  const key = await documentKey(path);
  const file = `${folder}/${key}.jsonl`;
  try {
    const text = readIfThere(file);
    return success(new RunJournal(environment, key, file, readEntries(text), text.length > COMPACT_BYTES));
  } catch (thrown) {
    return failure(
      "state-unwritable",
      `The journal in ${folder} cannot be used: ${thrownText(thrown)}.`,
      "Make that folder writable, or name another one with XDG_STATE_HOME.",
    );
  }
}

/** A journal of one process; with a file, every entry is in it before the promise settles. */
class RunJournal implements DocumentMemory {
  readonly #environment: Environment;
  readonly #key: string;
  readonly #file: string | null;
  readonly #approvals = new Map<string, Approval>();
  readonly #started = new Map<string, string>();
  readonly #results = new Map<string, string>();
  readonly #files = new Map<string, string>();
  #day: string | null = null;
  readonly #unfinished = new Set<string>();
  #unsettled = NOTHING_UNSETTLED;
  readonly #thinkingEntries: ThinkingEntry[] = [];
  /** What they come to; null when that has to be found out anew. */
  #thinking: ThinkingState | null = null;
  /** The file is to be rewritten before the next record. */
  #overgrown: boolean;

  constructor(
    environment: Environment,
    key: string,
    file: string | null,
    entries: readonly Entry[],
    overgrown: boolean,
  ) {
    this.#environment = environment;
    this.#key = key;
    this.#file = file;
    this.#overgrown = overgrown;
    for (const entry of entries) this.#apply(entry);
  }

  approval(id: string): Approval | null {
    return this.#approvals.get(id) ?? null;
  }

  recordApprovals(approvals: ReadonlyMap<string, Approval>): Promise<void> {
    return this.#record([...approvals].map(([id, approval]) => ({ kind: "approval", id, ...approval })));
  }

  started(): ReadonlyMap<string, string> {
    return this.#started;
  }

  recordStart(id: string, tool: string, { lasting = true } = {}): Promise<void> {
    return this.#record([{ kind: "start", id, tool, time: new Date().toISOString() }], { lasting });
  }

  recordEnd(id: string): Promise<void> {
    return this.#record([{ kind: "end", id }], { lasting: false });
  }

  exposure(): Exposure | null {
    return this.#unsettled.exposure;
  }

  suspects(): Suspects | null {
    return this.#unsettled.suspects;
  }

  recordExposure(exposure: Exposure): Promise<void> {
    return this.#record([{ kind: "exposed", ...exposure }]);
  }

  recordSuspects(suspects: Suspects | null): Promise<void> {
    return this.#record([{ kind: "settled", suspects }]);
  }

  fileHash(path: string): string | null {
    return this.#files.get(path) ?? null;
  }

  async recordFiles(files: readonly FileRead[]): Promise<void> {
    const news = files.filter(({ path, hash }) => this.#files.get(path) !== hash);
    if (news.length > 0) await this.#record(news.map(({ path, hash }) => ({ kind: "file", path, hash })));
  }

  promptDay(): string | null {
    return this.#day;
  }

  async recordPromptDay(day: string): Promise<void> {
    if (this.#day === null) await this.#record([{ kind: "day", day }]);
  }

  get thinking(): ThinkingState {
    return this.#thinking ??= thinkingState(this.#thinkingEntries);
  }

  async recordThinking(entries: readonly ThinkingEntry[]): Promise<void> {
    if (entries.length > 0) await this.#record(entries);
  }

  keepBody(id: string, body: string): Promise<string> {
    return this.#keep("body", id, body);
  }

  keepResult(id: string, body: string): Promise<string> {
    return this.#keep("result", id, body);
  }

  keptResults(): ReadonlyMap<string, string> {
    return this.#results;
  }

  unfinished(): ReadonlySet<string> {
    return this.#unfinished;
  }

  recordUnfinished(ids: readonly string[]): Promise<void> {
    return this.#record([{ kind: "unfinished", ids }]);
  }

  recordFinished(ids: readonly string[]): Promise<void> {
    return this.#record([{ kind: "finished", ids }]);
  }

  async #keep(kind: "body" | "result", id: string, body: string): Promise<string> {
    const folder = `${stateFolder(this.#environment)}/bodies`;
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    // Ids come from a model: nothing of them may reach the folder structure.
    const name = id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
    const unique = crypto.randomUUID().slice(0, 8);
    const path = `${folder}/${this.#key}-${name}-${timestamp(new Date())}-${unique}.txt`;
    await createFile(path, new TextEncoder().encode(body));
    await this.#record([{ kind, id, path }]);
    return path;
  }

  /** Outlives the program at once; the machine too, where it is to last. */
  async #record(entries: readonly Entry[], { lasting = true } = {}): Promise<void> {
    for (const entry of entries) this.#apply(entry);
    if (this.#file === null) return;
    // Read again: a filter of the same document may have recorded something since.
    if (this.#overgrown) await compact(this.#file, readEntries(readIfThere(this.#file)));
    this.#overgrown = false;
    const lines = entries.map((entry) => JSON.stringify(entry) + "\n").join("");
    using file = await openToAppend(this.#file);
    const { size } = await file.stat();
    await writeAll(file, new TextEncoder().encode(await newLineIfTorn(file, size) + lines));
    if (lasting) await file.syncData();
  }

  #apply(entry: Entry): void {
    switch (entry.kind) {
      case "approval":
        this.#approvals.set(entry.id, approvalOf(entry));
        this.#unsettled = afterEntry(this.#unsettled, entry);
        if (isPersons(entry)) this.#unfinished.delete(entry.id);
        break;
      case "unfinished":
        for (const id of entry.ids) this.#unfinished.add(id);
        break;
      case "finished":
        for (const id of entry.ids) this.#unfinished.delete(id);
        break;
      case "start":
        this.#started.set(entry.id, entry.tool);
        break;
      case "end":
        this.#started.delete(entry.id);
        this.#results.delete(entry.id);
        break;
      case "result":
        this.#results.set(entry.id, entry.path);
        break;
      case "file":
        this.#files.set(entry.path, entry.hash);
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
}

/** Whether a person decided, and was not only asked. */
function isPersons({ by, asked }: Approval): boolean {
  return by === "person" && asked !== true;
}

function approvalOf(entry: Approval): Approval {
  const { by, hash, source, asked } = entry;
  return { by, hash, ...(source === undefined ? {} : { source }), ...(asked === true ? { asked } : {}) };
}

/** Opens a file to write at its end; made with its folder where it is not there. */
async function openToAppend(path: string): Promise<Deno.FsFile> {
  const options = { create: true, append: true, read: true, mode: 0o600 };
  try {
    return await Deno.open(path, options);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    await Deno.mkdir(parentOf(path), { recursive: true, mode: 0o700 });
    return await Deno.open(path, options);
  }
}

/** A crash may have left half a line; it must not swallow the next one. */
async function newLineIfTorn(file: Deno.FsFile, size: number): Promise<string> {
  if (size === 0) return "";
  const last = new Uint8Array(1);
  await file.seek(size - 1, Deno.SeekMode.Start);
  await file.read(last);
  return last[0] === 10 ? "" : "\n";
}

/** Reads whole lines that make sense; a torn one is what a crash leaves and says nothing. */
function readEntries(text: string): Entry[] {
  const entries: Entry[] = [];
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

function isEntry(value: unknown): value is Entry {
  if (typeof value !== "object" || value === null) return false;
  const entry = value as Record<string, unknown>;
  if (entry.kind === "file") return typeof entry.path === "string" && typeof entry.hash === "string";
  if (entry.kind === "day") return typeof entry.day === "string" && /^\d{4}-\d\d-\d\d$/.test(entry.day);
  if (entry.kind === "unfinished" || entry.kind === "finished") {
    return Array.isArray(entry.ids) && entry.ids.every((id) => typeof id === "string");
  }
  if (isUnsettledEntry(entry) || isThinkingEntry(entry)) return true;
  if (typeof entry.id !== "string") return false;
  switch (entry.kind) {
    case "approval":
      return (entry.by === "policy" || entry.by === "person") && typeof entry.hash === "string";
    case "start":
      return typeof entry.tool === "string";
    case "end":
      return true;
    case "body":
    case "result":
      return typeof entry.path === "string";
    default:
      return false;
  }
}

/**
 * Keeps the last approval of each call, starts without end, calls of replies without end, the last hashes and digests,
 * the first day, and what nobody vouches for.
 */
async function compact(file: string, entries: readonly Entry[]): Promise<void> {
  const approvals = new Map<string, Entry>();
  const started = new Map<string, Entry>();
  const results = new Map<string, Entry>();
  const files = new Map<string, Entry>();
  const unfinished = new Set<string>();
  let day: Entry | null = null;
  let unsettled = NOTHING_UNSETTLED;
  const thinking: ThinkingEntry[] = [];
  for (const entry of entries) {
    if (entry.kind === "approval" || entry.kind === "exposed" || entry.kind === "settled") {
      unsettled = afterEntry(unsettled, entry);
    }
    if (entry.kind === "approval") {
      approvals.set(entry.id, entry);
      if (isPersons(entry)) unfinished.delete(entry.id);
    }
    if (entry.kind === "unfinished") { for (const id of entry.ids) unfinished.add(id); }
    if (entry.kind === "finished") { for (const id of entry.ids) unfinished.delete(id); }
    if (entry.kind === "start") started.set(entry.id, entry);
    if (entry.kind === "result") results.set(entry.id, entry);
    if (entry.kind === "end") {
      started.delete(entry.id);
      results.delete(entry.id);
    }
    if (entry.kind === "file") files.set(entry.path, entry);
    if (entry.kind === "day") day ??= entry;
    if (isThinkingEntry(entry)) thinking.push(entry);
  }
  const kept: Entry[] = [
    ...approvals.values(),
    ...started.values(),
    ...results.values(),
    ...files.values(),
    ...(day === null ? [] : [day]),
    ...thinkingEntries(thinkingState(thinking)),
    // Below the approvals, which would change what is unsettled.
    ...entriesOf(unsettled),
    ...(unfinished.size === 0 ? [] : [{ kind: "unfinished" as const, ids: [...unfinished] }]),
  ];
  const lines = kept.map((entry) => JSON.stringify(entry) + "\n");
  await replaceSmallFile(file, new TextEncoder().encode(lines.join("")), { durable: true });
}

function readIfThere(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (thrown) {
    if (isMissing(thrown)) return "";
    throw thrown;
  }
}
