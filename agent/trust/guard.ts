// Tamper check of a document. Watches the document while commands run that must not write it, and records which parts
// these commands could have written.

import { isMissing } from "../../base/files.ts";
import { stateNotice } from "../../base/folders.ts";
import { type Problem, problemLine } from "../../base/problem.ts";
import { readRegular } from "../../base/system/regular_file.ts";
import { permittedHash } from "../../cycle/plan/call_hash.ts";
import { identityOf, knownPath } from "../../cycle/storage/read.ts";
import type {
  CommandsOwner,
  DocumentStore,
  Emit,
  FileIdentity,
  Journal,
  TamperCheck,
  TamperedParts,
} from "../../cycle/types.ts";
import type { Environment } from "../../base/environment.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import type { CommandsWatch } from "../../sandbox/mod.ts";
import { programState, thisProgram } from "../../sandbox/process/leftovers.ts";
import { approvedCalls } from "./approved_calls.ts";
import { OtherDocuments, settleReached } from "./other_documents.ts";
import {
  breachSince,
  findTampered,
  isBlockTampered,
  type Leaves,
  mergeTampered,
  withoutBlock,
  withoutTampered,
} from "./tamper_check.ts";

export interface GuardOptions {
  readonly environment: Environment;
  readonly store: DocumentStore;
  /** The journals of the document, and of the name it was opened by if that is a different path. */
  readonly journal: Journal;
  readonly nameJournal: Journal | null;
  /** Evaluates the frontmatter of a version and returns what it sets. */
  readonly authority: (chat: Chat) => Promise<Pick<Leaves, "block" | "narrows">>;
  /** True if commands can write one of these paths. */
  readonly inReach: (paths: readonly string[]) => boolean;
  readonly emit: Emit;
  /** True if the guard only reads: it records nothing, and no command runs. */
  readonly readOnly: boolean;
}

export class DocumentGuard implements CommandsWatch {
  #options: GuardOptions;
  readonly #others: OtherDocuments;
  readonly #id = crypto.randomUUID();
  /** Others whose commands lived when this guard last read the journal. */
  #elsewhere: readonly CommandsOwner[] = [];
  /** True if others may use the document while commands of this guard live, or the other way round. */
  #isShared = false;
  #begun: Promise<Problem | null> | null = null;
  #tamperCheck: TamperCheck | null = null;
  /** The tampered parts that a read-only guard found. */
  #seen: TamperedParts | null = null;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#others = new OtherDocuments(options.environment, options.store.path);
  }

  /** True if commands are running or about to start. The file must then be written in place. */
  get commandsLive(): boolean {
    return this.#begun !== null || this.#elsewhere.some(isLive);
  }

  /** The parts that a command could have written and that nobody has confirmed. */
  get tampered(): TamperedParts | null {
    return this.#options.readOnly ? this.#seen : this.#options.journal.tampered();
  }

  /**
   * Handles leftovers of an earlier run: commands that were running at its end, and a name that now leads to another
   * document.
   */
  async open(): Promise<Problem | null> {
    const { journal, nameJournal, store } = this.#options;
    try {
      if (journal.reached().size > 0) await this.#settleReached();
    } catch (thrown) {
      return cannotRecord(this.#options.environment, thrown);
    }
    const left = [journal.tamperCheck(), nameJournal?.tamperCheck() ?? null].filter((each) => each !== null);
    if (left.length === 0 || store.path === null) {
      this.#seen = mergeTampered(journal.tampered(), this.#seen);
      return null;
    }
    const file = identityAt(store.path);
    let tampered = mergeTampered(journal.tampered(), this.#seen);
    for (const tamperCheck of left) {
      const why = breachSince(tamperCheck, { path: store.path, file });
      if (why === null) continue;
      tampered = mergeTampered(tampered, findTampered(tamperCheck, await this.#leaves(store.chat), why));
      // An editor may have passed only part of the document, or a text older than what a command wrote.
      tampered = mergeTampered(tampered, await this.#found(store.path, tamperCheck, why));
    }
    this.#seen = tampered;
    const owners = left.flatMap((each) => each.owners ?? []);
    this.#elsewhere = owners.filter((owner) => owner.id !== this.#id && isLive(owner));
    if (this.#elsewhere.length > 0) this.#isShared = true;
    if (this.#options.readOnly) return null;
    return await this.#keep(tampered, true) ?? await this.#stayOpen(left);
  }

  /** Handles what other runs left that used the document while this run had released it. */
  async reopen(): Promise<Problem | null> {
    if (this.#begun !== null) return null;
    this.#reread();
    return await this.open();
  }

  /**
   * Goes on with the document after it was closed and opened again, while commands of this guard live. Others may have
   * changed it meanwhile.
   */
  async continueWith(parts: Pick<GuardOptions, "store" | "emit">): Promise<Problem | null> {
    this.#options = { ...this.#options, ...parts };
    this.#isShared = true;
    this.#reread();
    return await this.open();
  }

  #reread(): void {
    this.#options.journal.reread();
    this.#options.nameJournal?.reread();
  }

  /** Commands of other documents, of a live run or of one that was killed, could have written this document. */
  async #settleReached(): Promise<void> {
    const { journal, store, readOnly } = this.#options;
    const { approved } = await this.#leaves(store.chat);
    for (const each of await settleReached(journal, approved, { readOnly })) {
      this.#seen = mergeTampered(this.#seen, each);
    }
  }

  /** True if a command could have written the frontmatter with these settings. */
  isBlockTampered(authority: Pick<Leaves, "block">): boolean {
    return isBlockTampered(authority, this.tampered);
  }

  /**
   * Records that the person confirms the frontmatter as it is; a read-only guard may record this too. Calls stay
   * unconfirmed. An open tamper check may belong to a live run, so it stays open and restarts from the current document.
   */
  async confirm(): Promise<Problem | null> {
    const { journal, nameJournal, store } = this.#options;
    const { path } = store;
    const left = withoutBlock(this.tampered);
    this.#seen = left;
    if (path === null) return null;
    const now = {
      leads: path,
      file: identityAt(path),
      ...withoutTampered(await this.#leaves(store.chat), left),
    };
    try {
      for (const each of nameJournal === null ? [journal] : [journal, nameJournal]) {
        const open = each.tamperCheck();
        if (open !== null || each.tampered() !== null) await each.recordTampered(left);
        if (open !== null) await each.recordTamperCheck({ ...open, ...now });
      }
      return null;
    } catch (thrown) {
      return cannotRecord(this.#options.environment, thrown);
    }
  }

  begin(reaches = false): Promise<Problem | null> {
    return this.#begun ??= this.#begin(reaches);
  }

  async #begin(reaches: boolean): Promise<Problem | null> {
    try {
      await this.#others.begin(this.#options.inReach);
    } catch (thrown) {
      this.#begun = null;
      return cannotRecord(this.#options.environment, thrown);
    }
    return await this.#beginOwn(reaches);
  }

  async #beginOwn(reaches: boolean): Promise<Problem | null> {
    const { store, journal } = this.#options;
    const { path, named = path } = store;
    if (path === null || named === null) return null;
    const file = identityAt(path);
    // Commands cannot write most documents, even if an editor replaces the file.
    if ((file?.links ?? 1) <= 1 && !this.#options.inReach([path, named])) return null;
    const leaves = await this.#leaves(store.chat);
    const tamperCheck: TamperCheck = {
      name: named,
      leads: path,
      file,
      ...withoutTampered(leaves, journal.tampered()),
      ...(reaches ? { writable: true } : {}),
      owners: [...this.#elsewhere.filter(isLive), this.#asOwner],
    };
    // The tamper check is recorded before the command starts, so that the next run finds the record even if this run is
    // killed.
    const problem = await this.#record(tamperCheck);
    if (problem !== null) this.#begun = null;
    else this.#tamperCheck = tamperCheck;
    return problem;
  }

  /**
   * Checks a text that another writer saves while commands run. This happens before the run takes the text over,
   * because after a merge nobody can tell who wrote which part.
   */
  async checkForeign(
    { text, file }: { readonly text: Uint8Array; readonly file: FileIdentity },
  ): Promise<void> {
    const { store: { path }, journal, emit } = this.#options;
    const then = this.#tamperCheck === null ? null : journal.tamperCheck() ?? this.#tamperCheck;
    if (then === null || path === null) return;
    const why = breachSince(then, { path, file });
    const found = why === null ? null : findTampered(then, await this.#leaves(parse(text)), why);
    if (found === null) return;
    try {
      await journal.recordTampered(mergeTampered(journal.tampered(), found));
      // The commands still run.
      await journal.recordTamperCheck(then);
    } catch (thrown) {
      const problem = cannotRecord(this.#options.environment, thrown);
      emit({ event: "notice", code: problem.code, message: problemLine(problem) });
    }
  }

  async end(): Promise<void> {
    const { emit } = this.#options;
    let problem: Problem | null;
    try {
      await this.#others.end();
      problem = await this.#end();
    } catch (thrown) {
      // The record that was made before the commands started stays, so the next process that opens the document checks
      // the document.
      problem = cannotRecord(this.#options.environment, thrown);
    }
    if (problem !== null) emit({ event: "notice", code: problem.code, message: problemLine(problem) });
    this.#tamperCheck = null;
    this.#begun = null;
  }

  get #asOwner(): CommandsOwner {
    return { id: this.#id, ...thisProgram() };
  }

  async #end(): Promise<Problem | null> {
    const { store: { path }, environment, journal } = this.#options;
    if (path === null || this.#tamperCheck === null) return null;
    if (this.#isShared) this.#reread();
    const owners = journal.tamperCheck()?.owners ?? [];
    this.#elsewhere = owners.filter((owner) => owner.id !== this.#id);
    // The recorded check includes calls that this program has approved since the commands started.
    const tamperCheck = journal.tamperCheck() ?? this.#tamperCheck;
    const why = breachSince(tamperCheck, { path, file: identityAt(path) });
    const tampered = why === null ? null : await this.#found(path, tamperCheck, why);
    // If the name now leads to another document, the record stays, because opening the name later checks that
    // document.
    const leads = await knownPath(environment, tamperCheck.name);
    const problem = await this.#keep(mergeTampered(journal.tampered(), tampered), leads === path);
    const others = this.#elsewhere.filter(isLive);
    if (problem !== null || others.length === 0) return problem;
    return await this.#record({ ...tamperCheck, owners: others });
  }

  /** After a document was opened, keeps its check open, from now on, for those whose commands still live. */
  async #stayOpen(before: readonly TamperCheck[]): Promise<Problem | null> {
    const { store, journal } = this.#options;
    const { path, named = path } = store;
    const own = this.#begun === null ? [] : [this.#asOwner];
    const owners = [...this.#elsewhere.filter(isLive), ...own];
    if (owners.length === 0 || path === null || named === null) return null;
    const check: TamperCheck = {
      name: named,
      leads: path,
      file: identityAt(path),
      ...withoutTampered(await this.#leaves(store.chat), journal.tampered()),
      ...(before.some(({ writable }) => writable) ? { writable: true } : {}),
      owners,
    };
    if (own.length > 0) this.#tamperCheck = check;
    return await this.#record(check);
  }

  async #record(check: TamperCheck): Promise<Problem | null> {
    const { journal, nameJournal, environment } = this.#options;
    try {
      await journal.recordTamperCheck(check);
      await nameJournal?.recordTamperCheck(check);
      return null;
    } catch (thrown) {
      return cannotRecord(environment, thrown);
    }
  }

  /** Returns the parts of the present file that did not exist before the commands started. */
  async #found(path: string, tamperCheck: TamperCheck, why: string): Promise<TamperedParts | null> {
    let bytes: Uint8Array;
    try {
      bytes = await readRegular(path);
    } catch (thrown) {
      if (isMissing(thrown)) return null;
      throw thrown;
    }
    return findTampered(tamperCheck, await this.#leaves(parse(bytes)), why);
  }

  async #keep(tampered: TamperedParts | null, nameToo: boolean): Promise<Problem | null> {
    const { journal, nameJournal } = this.#options;
    try {
      await journal.recordTampered(tampered);
      if (nameToo && nameJournal?.tamperCheck()) await nameJournal.recordTampered(null);
      return null;
    } catch (thrown) {
      return cannotRecord(this.#options.environment, thrown);
    }
  }

  async #leaves(chat: Chat): Promise<Leaves> {
    const approved: [string, string][] = [];
    for (const call of approvedCalls(chat)) approved.push([call.id, await permittedHash(chat, call)]);
    return { approved: Object.fromEntries(approved), ...await this.#options.authority(chat) };
  }
}

/** True if the process whose commands may live runs. */
function isLive(owner: CommandsOwner): boolean {
  return programState(owner) === "runs";
}

function identityAt(path: string): FileIdentity | null {
  try {
    return identityOf(Deno.statSync(path));
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

function cannotRecord(environment: Environment, thrown: unknown): Problem {
  const effect = "The record of text that commands could have written cannot be saved.";
  return stateNotice(environment, thrown, effect);
}
