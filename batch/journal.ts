// The journal of batches: one file of lines per batch, in the state folder. A lock on the file keeps two runs from working
// on one batch.

import type { Environment } from "../base/environment.ts";
import { closeLocked, isMissing, isNoFile, readOrNull } from "../base/files.ts";
import { STATE_REMEDY, stateFolder, StateUnwritable } from "../base/folders.ts";
import { hasTexts, isCount, isObject } from "../base/is_object.ts";
import type { Problem } from "../base/problem.ts";
import type { BatchHead, BatchItem, BatchKind, ItemEnd } from "./types.ts";

/** Days for which the journal of a finished batch is kept, so that a fetch of a copy can say where its reply is. */
const KEPT_DAYS = 60;

const ENDING = ".jsonl";

const NEWLINE = 10;

/** Milliseconds to wait for a lock, and between two attempts. */
const PATIENCE = 1000;
const POLL = 20;

type Line =
  | { readonly kind: "batch"; readonly head: BatchHead }
  | { readonly kind: "item"; readonly item: BatchItem }
  /** The request that creates the batch is about to be made. */
  | { readonly kind: "posting"; readonly time: string }
  | { readonly kind: "created"; readonly remote: string }
  /** A reply is about to be written: its length and digest at the end of the text that was sent. */
  | { readonly kind: "writing"; readonly item: string; readonly size: number; readonly digest: string }
  | { readonly kind: "end"; readonly item: string; readonly how: ItemEnd }
  /** Nothing is left to do. */
  | { readonly kind: "done" };

/** A text that was about to be written. */
export interface WrittenReply {
  readonly size: number;
  readonly digest: string;
}

/** What the journal says about a batch. */
export interface BatchRecord {
  readonly head: BatchHead;
  readonly items: readonly BatchItem[];
  /** Time of the attempt to create the batch; null if there was none. */
  readonly posted: string | null;
  /** The provider's name of the batch; null while it is unknown. */
  readonly remote: string | null;
  readonly ends: ReadonlyMap<string, ItemEnd>;
  /** Replies that were about to be written, by request. */
  readonly writing: ReadonlyMap<string, WrittenReply>;
  readonly isDone: boolean;
}

/** Returns the requests of a batch that wait for their result. */
export function openItems({ items, ends }: BatchRecord): readonly BatchItem[] {
  return items.filter(({ item }) => !ends.has(item));
}

/** Returns the folder of the journals. */
export function batchFolder(environment: Environment): string {
  return `${stateFolder(environment)}/batches`;
}

/** Reads the journals of all batches, the oldest first. */
export async function readBatches(environment: Environment): Promise<readonly BatchRecord[]> {
  return (await readJournals(environment)).batches;
}

/** Journals in the state folder. */
export interface Journals {
  readonly batches: readonly BatchRecord[];
  /** Paths of journals that are damaged, so that their batches are unknown. */
  readonly damaged: readonly string[];
}

/** Reads the journals of all batches, the oldest first, and finds damaged ones. */
export async function readJournals(environment: Environment): Promise<Journals> {
  const folder = batchFolder(environment);
  const batches: BatchRecord[] = [];
  const damaged: string[] = [];
  for (const name of namesIn(folder)) {
    const path = `${folder}/${name}`;
    const bytes = await readOrNull(path).catch((thrown: unknown) => {
      if (!isNoFile(thrown)) throw thrown;
      return new Uint8Array([NEWLINE]);
    });
    const record = bytes === null ? null : recordOf(new TextDecoder().decode(bytes));
    if (record !== null) batches.push(record);
    // A kill while the journal is made leaves a part of its first line, and nothing was sent then.
    else if (bytes?.includes(NEWLINE)) damaged.push(path);
  }
  return { batches: batches.sort((a, b) => a.head.time < b.head.time ? -1 : 1), damaged };
}

function namesIn(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(ENDING));
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
}

/** Reads the text of a journal; null if it has no first line, because of a kill or because a person changed it. */
function recordOf(text: string): BatchRecord | null {
  const lines = text.split("\n").flatMap(readLine);
  const [first] = lines;
  if (first?.kind !== "batch") return null;
  const items: BatchItem[] = [];
  const ends = new Map<string, ItemEnd>();
  const writing = new Map<string, WrittenReply>();
  let posted: string | null = null;
  let remote: string | null = null;
  let isDone = false;
  for (const line of lines) {
    if (line.kind === "item") items.push(line.item);
    else if (line.kind === "posting") posted = line.time;
    else if (line.kind === "created") remote = line.remote;
    else if (line.kind === "end") ends.set(line.item, line.how);
    else if (line.kind === "writing") writing.set(line.item, { size: line.size, digest: line.digest });
    else if (line.kind === "done") isDone = true;
  }
  return { head: first.head, items, posted, remote, ends, writing, isDone };
}

/** Reads a line. A kill can leave an incomplete one, whose effect did not begin. */
function readLine(text: string): Line[] {
  try {
    const value: unknown = JSON.parse(text);
    return isLine(value) ? [value as unknown as Line] : [];
  } catch {
    return [];
  }
}

/** Members of each kind of line whose values must be texts. */
const TEXTS: Readonly<Record<Line["kind"], readonly string[]>> = {
  batch: [],
  item: [],
  posting: ["time"],
  created: ["remote"],
  writing: ["item", "digest"],
  end: ["item", "how"],
  done: [],
};

const HEAD_TEXTS = ["id", "provider", "kind", "model", "url", "time"];
const ITEM_TEXTS = ["item", "path", "name", "text", "body", "lock"];

const KINDS: ReadonlySet<unknown> = new Set<BatchKind>(["anthropic", "openai", "gemini"]);
const LOCKS: ReadonlySet<unknown> = new Set<BatchItem["lock"]>(["state", "beside"]);
const ENDS: ReadonlySet<unknown> = new Set<ItemEnd>(["written", "kept", "freed"]);

/** True for a line whose members all have the types that are read. */
function isLine(value: unknown): boolean {
  if (!isObject(value) || typeof value.kind !== "string" || !Object.hasOwn(TEXTS, value.kind)) return false;
  if (!hasTexts(value, TEXTS[value.kind as Line["kind"]])) return false;
  switch (value.kind) {
    case "batch":
      return isHead(value.head);
    case "item": {
      const { item } = value;
      return isObject(item) && hasTexts(item, ITEM_TEXTS) && isCount(item.bytes) && LOCKS.has(item.lock);
    }
    case "writing":
      return isCount(value.size);
    case "end":
      return ENDS.has(value.how);
    default:
      return true;
  }
}

function isHead(head: unknown): boolean {
  if (!isObject(head) || !hasTexts(head, HEAD_TEXTS)) return false;
  const { kind, url, time, count, given = {} } = head;
  return KINDS.has(kind) && URL.canParse(String(url)) && !Number.isNaN(Date.parse(String(time))) &&
    isCount(count) && isObject(given) && isObject(given.parameters ?? {}) &&
    [given.preset, given.model].every((text) => text === undefined || typeof text === "string");
}

/** The journal of one batch, locked for this process. */
export class BatchJournal {
  readonly #environment: Environment;
  readonly #file: Deno.FsFile;
  readonly #path: string;
  #record: BatchRecord;
  /** True if a kill or a full disk left the last line incomplete. The next line must not become a part of it. */
  #isInLine = false;

  private constructor(environment: Environment, file: Deno.FsFile, path: string, record: BatchRecord) {
    this.#environment = environment;
    this.#file = file;
    this.#path = path;
    this.#record = record;
  }

  /** Creates the journal of a new batch. */
  static async create(
    environment: Environment,
    head: BatchHead,
    items: readonly BatchItem[],
  ): Promise<BatchJournal> {
    const folder = batchFolder(environment);
    try {
      await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
      const path = `${folder}/${head.id}${ENDING}`;
      const file = await Deno.open(path, { createNew: true, append: true, read: true, mode: 0o600 });
      await file.tryLock(true);
      const record = {
        head,
        items,
        posted: null,
        remote: null,
        ends: new Map(),
        writing: new Map(),
        isDone: false,
      };
      const journal = new BatchJournal(environment, file, path, record);
      const lines: readonly Line[] = [
        { kind: "batch", head },
        ...items.map((item) => ({ kind: "item", item } as const)),
      ];
      await journal.#append(lines, { durable: true });
      return journal;
    } catch (thrown) {
      throw new StateUnwritable(environment, thrown);
    }
  }

  /** Opens the journal of a batch; null if another run works on the batch, or if there is none of that id. */
  static async open(environment: Environment, id: string): Promise<BatchJournal | null> {
    const path = `${batchFolder(environment)}/${id}${ENDING}`;
    let file: Deno.FsFile;
    try {
      file = await Deno.open(path, { append: true, read: true });
    } catch (thrown) {
      if (isMissing(thrown)) return null;
      throw new StateUnwritable(environment, thrown);
    }
    const bytes = await isLocked(file) ? await readOrNull(path) : null;
    const record = bytes === null ? null : recordOf(new TextDecoder().decode(bytes));
    if (record === null) {
      file.close();
      return null;
    }
    const journal = new BatchJournal(environment, file, path, record);
    journal.#isInLine = bytes?.at(-1) !== NEWLINE;
    return journal;
  }

  get record(): BatchRecord {
    return this.#record;
  }

  /** Path for the results of the batch. */
  get resultsPath(): string {
    return `${this.#path.slice(0, -ENDING.length)}.results`;
  }

  async recordPosting(time: string): Promise<void> {
    await this.#append([{ kind: "posting", time }], { durable: true });
    this.#record = { ...this.#record, posted: time };
  }

  async recordCreated(remote: string): Promise<void> {
    await this.#append([{ kind: "created", remote }], { durable: true });
    this.#record = { ...this.#record, remote };
  }

  /** Records which reply is about to be written. If the machine stops before it is on disk, the reply is kept twice. */
  async recordWriting(item: string, reply: WrittenReply): Promise<void> {
    await this.#append([{ kind: "writing", item, ...reply }]);
    this.#record = { ...this.#record, writing: new Map([...this.#record.writing, [item, reply]]) };
  }

  /** Records what became of a request. The document says the same, so a kill before this only repeats a comparison. */
  async recordEnd(item: string, how: ItemEnd): Promise<void> {
    await this.#append([{ kind: "end", item, how }]);
    (this.#record.ends as Map<string, ItemEnd>).set(item, how);
  }

  async recordDone(): Promise<void> {
    await this.#append([{ kind: "done" }]);
    this.#record = { ...this.#record, isDone: true };
    await Deno.remove(this.resultsPath).catch((thrown) => {
      if (!isMissing(thrown)) throw thrown;
    });
  }

  close(): void {
    closeLocked(this.#file);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #append(lines: readonly Line[], { durable = false } = {}): Promise<void> {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const bytes = new TextEncoder().encode(this.#isInLine ? `\n${text}` : text);
    try {
      this.#isInLine = true;
      for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
      this.#isInLine = false;
      if (durable) await this.#file.syncData();
    } catch (thrown) {
      throw new StateUnwritable(this.#environment, thrown);
    }
  }
}

/** Returns the problem if the journals cannot be written; throws every other exception again. */
export function journalProblem(thrown: unknown): Problem {
  if (!(thrown instanceof StateUnwritable)) throw thrown;
  return {
    code: "state-unwritable",
    message: `Batches need their journal, and ${thrown.message}.`,
    next: STATE_REMEDY,
  };
}

/**
 * Locks a file; false if another run holds it. A program that a run was just starting can have its files open for a moment
 * after the run was killed.
 */
async function isLocked(file: Deno.FsFile): Promise<boolean> {
  const until = performance.now() + PATIENCE;
  while (!await file.tryLock(true)) {
    if (performance.now() > until) return false;
    await new Promise((done) => setTimeout(done, POLL));
  }
  return true;
}

/** Removes the journals of batches that ended long ago. */
export async function removeOldBatches(environment: Environment, now: Date): Promise<void> {
  const folder = batchFolder(environment);
  for (const { head, isDone } of await readBatches(environment)) {
    if (!isDone || now.getTime() - Date.parse(head.time) < KEPT_DAYS * 86_400_000) continue;
    await Deno.remove(`${folder}/${head.id}${ENDING}`).catch((thrown) => {
      if (!isMissing(thrown)) throw thrown;
    });
  }
}
