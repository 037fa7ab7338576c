// Watches a document while commands live that must not write it, and remembers what nobody vouches for (S17).

import { isMissing } from "../../base/files.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { callHash } from "../../cycle/plan/call_hash.ts";
import { liveCalls } from "../../cycle/plan/open_calls.ts";
import { knownPath } from "../../cycle/storage/read.ts";
import type {
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
import {
  breachSince,
  findTampered,
  isBlockTampered,
  type Leaves,
  together,
  withoutTampered,
} from "./tamper_check.ts";

export interface GuardOptions {
  readonly environment: Environment;
  readonly store: DocumentStore;
  /** The journal of the document, and of the name it was opened by where that is another path. */
  readonly journal: Journal;
  readonly nameJournal: Journal | null;
  /** What the first block of a version says; it is evaluated for that. */
  readonly authority: (chat: Chat) => Promise<Pick<Leaves, "block" | "narrows">>;
  /** Whether commands can write one of these paths. */
  readonly inReach: (paths: readonly string[]) => boolean;
  readonly emit: Emit;
  /** Only looks: nothing is recorded, and no command will live. */
  readonly readOnly: boolean;
}

/** One for each document that is open. */
export class DocumentGuard implements CommandsWatch {
  readonly #options: GuardOptions;
  #begun: Promise<Problem | null> | null = null;
  #tamperCheck: TamperCheck | null = null;
  /** Of a guard that only looks. */
  #seen: TamperedParts | null = null;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Whether commands live, or are about to. While they do, the file must be written in place. */
  get commandsLive(): boolean {
    return this.#begun !== null;
  }

  /** What a command could have written, and nobody confirmed. */
  get tampered(): TamperedParts | null {
    return this.#options.readOnly ? this.#seen : this.#options.journal.tampered();
  }

  /** Settles what an earlier run left: commands that lived when it ended, and a name that leads elsewhere now. */
  async open(): Promise<Problem | null> {
    const { journal, nameJournal, store } = this.#options;
    const left = [journal.tamperCheck(), nameJournal?.tamperCheck() ?? null].filter((each) => each !== null);
    if (left.length === 0 || store.path === null) {
      this.#seen = journal.tampered();
      return null;
    }
    const file = identityOf(store.path);
    let tampered = journal.tampered();
    for (const tamperCheck of left) {
      const why = breachSince(tamperCheck, { path: store.path, file });
      if (why === null) continue;
      tampered = together(tampered, findTampered(tamperCheck, await this.#leaves(store.chat), why));
      // An editor may have handed over a piece of the document only, or an older text than what a command wrote.
      tampered = together(tampered, await this.#found(store.path, tamperCheck, why));
    }
    this.#seen = tampered;
    return this.#options.readOnly ? null : await this.#keep(tampered, true);
  }

  /** Whether the first block, of which this is what it says, could be a command's. */
  isBlockTampered(authority: Pick<Leaves, "block">): boolean {
    return isBlockTampered(authority, this.tampered);
  }

  /**
   * The person says that the document is as they want it. Also a report may say so; what it found open may be of a run
   * that is alive, so that is watched on, from the document as it is now.
   */
  async confirm(): Promise<Problem | null> {
    const { journal, nameJournal, store } = this.#options;
    const { path } = store;
    this.#seen = null;
    if (path === null) return null;
    const now = {
      leads: path,
      file: identityOf(path),
      ...withoutTampered(await this.#leaves(store.chat), null),
    };
    try {
      for (const each of nameJournal === null ? [journal] : [journal, nameJournal]) {
        const open = each.tamperCheck();
        if (open !== null || each.tampered() !== null) await each.recordTampered(null);
        if (open !== null) await each.recordTamperCheck({ ...open, ...now });
      }
      return null;
    } catch (thrown) {
      return unkept(thrown);
    }
  }

  begin(): Promise<Problem | null> {
    return this.#begun ??= this.#begin();
  }

  async #begin(): Promise<Problem | null> {
    const { store, journal, nameJournal } = this.#options;
    const { path, named = path } = store;
    if (path === null || named === null) return null;
    const file = identityOf(path);
    // Most documents of a person who keeps them apart from their projects are out of reach, whatever an editor does.
    if ((file?.links ?? 1) <= 1 && !this.#options.inReach([path, named])) return null;
    const leaves = await this.#leaves(store.chat);
    const tamperCheck: TamperCheck = {
      name: named,
      leads: path,
      file,
      ...withoutTampered(leaves, journal.tampered()),
    };
    try {
      // Before the command, so that the next run knows even if this one is killed.
      await journal.recordTamperCheck(tamperCheck);
      await nameJournal?.recordTamperCheck(tamperCheck);
    } catch (thrown) {
      this.#begun = null;
      return unkept(thrown);
    }
    this.#tamperCheck = tamperCheck;
    return null;
  }

  async end(): Promise<void> {
    const { emit } = this.#options;
    let problem: Problem | null;
    try {
      problem = await this.#end();
    } catch (thrown) {
      // What was recorded before the commands began stays, and whoever opens the document next looks.
      problem = unkept(thrown);
    }
    if (problem !== null) emit({ event: "notice", code: problem.code, message: problem.message });
    this.#tamperCheck = null;
    this.#begun = null;
  }

  async #end(): Promise<Problem | null> {
    const { store: { path }, environment, journal } = this.#options;
    if (path === null || this.#tamperCheck === null) return null;
    // With what this program approved meanwhile.
    const tamperCheck = journal.tamperCheck() ?? this.#tamperCheck;
    const why = breachSince(tamperCheck, { path, file: identityOf(path) });
    const tampered = why === null ? null : await this.#found(path, tamperCheck, why);
    // A name that leads elsewhere now stays recorded: whoever opens it finds what is there.
    const leads = await knownPath(environment, tamperCheck.name);
    return await this.#keep(together(journal.tampered(), tampered), leads === path);
  }

  /** What stands in the file now that was not vouched for. */
  async #found(path: string, tamperCheck: TamperCheck, why: string): Promise<TamperedParts | null> {
    let bytes: Uint8Array;
    try {
      bytes = await Deno.readFile(path);
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
      return unkept(thrown);
    }
  }

  async #leaves(chat: Chat): Promise<Leaves> {
    const approved: [string, string][] = [];
    for (const call of liveCalls(chat)) {
      const result = chat.result(call.id);
      if (result?.status === "approved" && result.content === "") {
        approved.push([call.id, await callHash(call)]);
      }
    }
    return { approved: Object.fromEntries(approved), ...await this.#options.authority(chat) };
  }
}

function identityOf(path: string): FileIdentity | null {
  try {
    const { dev, ino, nlink, birthtime } = Deno.statSync(path);
    return { dev, ino, links: nlink, born: birthtime?.getTime() ?? null };
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

function unkept(thrown: unknown): Problem {
  return {
    code: "state-unwritable",
    message: `It cannot be kept which text a command could have written: ${thrownText(thrown)}.`,
    next: "Make room, or name a writable state folder with XDG_STATE_HOME.",
  };
}
