// The journal of one document's runs: who approved which call, which calls started, which texts were overwritten, and
// which content of other files was sent.

import { createFile, isMissing, replaceSmallFile, writeAll } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { parentOf } from "../../base/paths.ts";
import type { FileRead } from "../../prompt/types.ts";
import type { Effects } from "../../tools/definition.ts";
import type {
  Approval,
  AskedQuestions,
  Journal,
  KnownCall,
  Reach,
  StartedCall,
  TamperCheck,
  TamperedParts,
  ThinkingEntry,
  ThinkingState,
} from "../types.ts";
import { type JournalEntry, JournalState, readEntries } from "./journal_entries.ts";
import { StateUnwritable } from "../../base/folders.ts";
import { documentKey, stateFolder, timestamp } from "./state_files.ts";
import { noteWaiting } from "./waiting_documents.ts";

/** Journals with more bytes than this are compacted. */
const COMPACT_BYTES = 256 * 1024;

/**
 * Opens the journal of the document at `path`, or one in memory if it is null (unsaved). Opening only reads: the first
 * record creates folder and file, and compacts a large file.
 */
export async function openJournal(options: {
  readonly environment: Environment;
  readonly path: string | null;
}): Promise<Outcome<Journal>> {
  const { environment, path } = options;
  const folder = `${stateFolder(environment)}/journal`;
  if (path === null) return success(new RunJournal(environment, "unsaved", null, [], false));
  const key = await documentKey(path);
  const file = `${folder}/${key}.jsonl`;
  try {
    const text = readIfThere(file);
    return success(
      new RunJournal(environment, key, file, readEntries(text), text.length > COMPACT_BYTES, path),
    );
  } catch (thrown) {
    return failure(
      "state-unwritable",
      `Cannot use the journal in ${folder}: ${thrownText(thrown)}.`,
      "Make that folder writable, or set XDG_STATE_HOME to another folder.",
    );
  }
}

/** A journal for one process. If it has a file, every entry is in the file before the promise settles. */
export class RunJournal implements Journal {
  readonly #environment: Environment;
  readonly #key: string;
  /** Real path of the document. */
  readonly #path: string | null;
  readonly #file: string | null;
  #state: JournalState;
  /** Whether anything was recorded before this run. */
  readonly #existed: boolean;
  /** Calls about which this run recorded a decision or question. */
  readonly #here = new Set<string>();
  /** True if the file must be compacted before the next record. */
  #overgrown: boolean;

  constructor(
    environment: Environment,
    key: string,
    file: string | null,
    entries: readonly JournalEntry[],
    overgrown: boolean,
    path: string | null = null,
  ) {
    this.#path = path;
    this.#environment = environment;
    this.#key = key;
    this.#file = file;
    this.#overgrown = overgrown;
    this.#existed = entries.length > 0;
    this.#state = new JournalState(entries);
  }

  approval(id: string): Approval | null {
    return this.#state.approvals.get(id) ?? null;
  }

  isFromThisRun(id: string): boolean {
    return this.#here.has(id);
  }

  async recordApprovals(
    approvals: ReadonlyMap<string, Approval>,
    held: ReadonlyMap<string, KnownCall> = new Map(),
  ): Promise<void> {
    const news = [...held].filter(([id, call]) => !isKnown(this.#state, id, call)).map(([id, call]) => {
      const known = this.held(id);
      return [id, known?.hash === call.hash ? { ...known, ...call } : call] as const;
    });
    if (approvals.size + news.length === 0) return;
    if (this.#path !== null) await this.#written(() => noteWaiting(this.#environment, this.#path!));
    const time = new Date().toISOString();
    await this.#record([
      ...news.map(([id, call]) => ({ kind: "held", id, ...call } as const)),
      ...[...approvals].map(([id, approval]) => ({ kind: "approval", id, ...approval, time } as const)),
    ]);
    for (const id of approvals.keys()) this.#here.add(id);
  }

  held(id: string): KnownCall | null {
    return this.#state.held.get(id) ?? null;
  }

  decidedAt(id: string): string {
    return this.#state.decidedAt.get(id) ?? "";
  }

  hasRun(id: string): boolean {
    return this.#state.ran.has(id);
  }

  reached(): ReadonlyMap<string, Reach> {
    return this.#state.reached;
  }

  recordReached(by: string, reach: Reach): Promise<void> {
    return this.#record([{ kind: "reached", by, ...reach }]);
  }

  recordLeft(by: string, tampered: TamperedParts | null): Promise<void> {
    return this.#record([{ kind: "left", by, suspects: tampered }]);
  }

  reread(): void {
    if (this.#file !== null) this.#state = new JournalState(readEntries(readIfThere(this.#file)));
  }

  get predates(): boolean {
    return this.#existed && !this.#state.counted;
  }

  asked(id: string): AskedQuestions | null {
    return this.#state.asked.get(id) ?? null;
  }

  recordAsked(id: string, asked: AskedQuestions): Promise<void> {
    return this.#record([{ kind: "asked", id, ...asked }]);
  }

  started(): ReadonlyMap<string, StartedCall> {
    return this.#state.started;
  }

  recordStart(id: string, tool: string, effects?: Effects): Promise<void> {
    const entry = { kind: "start", id, tool, time: new Date().toISOString(), effects } as const;
    return this.#record([entry], { lasting: effects === undefined || effects === "writes" });
  }

  async recordReported(id: string): Promise<void> {
    const start = this.#state.started.get(id);
    if (start === undefined || start.reported === true) return;
    await this.#record([{ kind: "start", id, ...start, reported: true }], { lasting: false });
  }

  recordEnd(id: string, { ran = false }: { readonly ran?: boolean } = {}): Promise<void> {
    const how = ran ? { ran, time: new Date().toISOString() } : {};
    return this.#record([{ kind: "end", id, ...how }], { lasting: false });
  }

  tamperCheck(): TamperCheck | null {
    return this.#state.unsettled.exposure;
  }

  tampered(): TamperedParts | null {
    return this.#state.unsettled.suspects;
  }

  recordTamperCheck(tamperCheck: TamperCheck): Promise<void> {
    return this.#record([{ kind: "exposed", ...tamperCheck }]);
  }

  recordTampered(tampered: TamperedParts | null): Promise<void> {
    return this.#record([{ kind: "settled", suspects: tampered }]);
  }

  fileHash(path: string): string | null {
    return this.#state.files.get(path) ?? null;
  }

  async recordFiles(files: readonly FileRead[]): Promise<void> {
    const news = files.filter(({ path, hash }) => this.#state.files.get(path) !== hash);
    if (news.length > 0) await this.#record(news.map(({ path, hash }) => ({ kind: "file", path, hash })));
  }

  promptDay(): string | null {
    return this.#state.day;
  }

  async recordPromptDay(day: string): Promise<void> {
    if (this.#state.day === null) await this.#record([{ kind: "day", day }]);
  }

  get thinking(): ThinkingState {
    return this.#state.thinking;
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

  savedResults(): ReadonlyMap<string, string> {
    return this.#state.results;
  }

  unfinished(): ReadonlySet<string> {
    return this.#state.unfinished;
  }

  recordUnfinished(ids: readonly string[]): Promise<void> {
    return this.#record([{ kind: "unfinished", ids }]);
  }

  recordFinished(ids: readonly string[]): Promise<void> {
    return this.#record([{ kind: "finished", ids }]);
  }

  async #keep(kind: "body" | "result", id: string, body: string): Promise<string> {
    const folder = `${stateFolder(this.#environment)}/bodies`;
    // Ids come from a model: they must not affect the folder structure.
    const name = id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
    const unique = crypto.randomUUID().slice(0, 8);
    const path = `${folder}/${this.#key}-${name}-${timestamp(new Date())}-${unique}.txt`;
    await this.#written(async () => {
      Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
      await createFile(path, new TextEncoder().encode(body));
    });
    await this.#record([{ kind, id, path }]);
    return path;
  }

  /** Entries survive the end of the program; with `lasting` they also survive a crash of the machine. */
  async #record(news: readonly JournalEntry[], { lasting = true } = {}): Promise<void> {
    // Marks the journal as one of a version that records calls with a block, whatever is recorded first.
    const entries = this.#state.counted ? news : [{ kind: "counted" } as const, ...news];
    for (const entry of entries) this.#state.apply(entry);
    const path = this.#file;
    if (path === null) return;
    await this.#written(async () => {
      // Read again: a filter run on the same document may have recorded something since.
      if (this.#overgrown) await compact(path, readEntries(readIfThere(path)));
      this.#overgrown = false;
      const lines = entries.map((entry) => JSON.stringify(entry) + "\n").join("");
      using file = openToAppend(path);
      const { size } = file.statSync();
      await writeAll(file, new TextEncoder().encode(await newLineIfTorn(file, size) + lines));
      if (lasting) await file.syncData();
    });
  }

  /** Does `work`; an exception of the system names the state folder. */
  async #written(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      throw new StateUnwritable(this.#environment, thrown);
    }
  }
}

/** Whether an entry would change nothing. */
function isKnown({ held, ran }: JournalState, id: string, { hash, turns, asked }: KnownCall): boolean {
  const known = held.get(id);
  return known?.hash === hash && !ran.has(id) && asked === undefined && known.turns.join() === turns.join();
}

/** Opens a file for appending; creates it with its folder if missing. */
function openToAppend(path: string): Deno.FsFile {
  const options = { create: true, append: true, read: true, mode: 0o600 };
  try {
    return Deno.openSync(path, options);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    Deno.mkdirSync(parentOf(path), { recursive: true, mode: 0o700 });
    return Deno.openSync(path, options);
  }
}

/** A crash may have left a partial line; the next entry must not be appended to it. */
async function newLineIfTorn(file: Deno.FsFile, size: number): Promise<string> {
  if (size === 0) return "";
  const last = new Uint8Array(1);
  file.seekSync(size - 1, Deno.SeekMode.Start);
  await file.read(last);
  return last[0] === 10 ? "" : "\n";
}

/** Rewrites a journal without obsolete entries. */
async function compact(file: string, entries: readonly JournalEntry[]): Promise<void> {
  const lines = new JournalState(entries).entries().map((entry) => JSON.stringify(entry) + "\n");
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
