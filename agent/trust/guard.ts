// Watches a document while commands live that must not write it, and remembers what nobody vouches for (S17).

import { isMissing } from "../../base/files.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { callHash } from "../../cycle/plan/call_hash.ts";
import { liveCalls } from "../../cycle/plan/open_calls.ts";
import { knownPath } from "../../cycle/storage/read.ts";
import type { DocumentStore, Emit, Exposure, FileIdentity, Journal, Suspects } from "../../cycle/types.ts";
import type { Environment } from "../../base/environment.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import type { CommandsWatch } from "../../sandbox/mod.ts";
import { blockIsSuspect, breachSince, type Leaves, suspectsIn, together, vouched } from "./tamper_check.ts";

export interface GuardOptions {
  readonly environment: Environment;
  readonly store: DocumentStore;
  /** The journal of the document, and of the name it was opened by where that is another path. */
  readonly journal: Journal;
  readonly nameJournal: Journal | null;
  /** What the first block of a version says; it is evaluated for that. */
  readonly said: (chat: Chat) => Promise<Pick<Leaves, "block" | "narrows">>;
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
  #exposure: Exposure | null = null;
  /** Of a guard that only looks. */
  #seen: Suspects | null = null;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Whether commands live, or are about to. While they do, the file must be written in place. */
  get commandsLive(): boolean {
    return this.#begun !== null;
  }

  /** What a command could have written, and nobody confirmed. */
  get suspects(): Suspects | null {
    return this.#options.readOnly ? this.#seen : this.#options.journal.suspects();
  }

  /** Settles what an earlier run left: commands that lived when it ended, and a name that leads elsewhere now. */
  async open(): Promise<Problem | null> {
    const { journal, nameJournal, store } = this.#options;
    const left = [journal.exposure(), nameJournal?.exposure() ?? null].filter((each) => each !== null);
    if (left.length === 0 || store.path === null) {
      this.#seen = journal.suspects();
      return null;
    }
    const file = identityOf(store.path);
    let suspects = journal.suspects();
    for (const exposure of left) {
      const why = breachSince(exposure, { path: store.path, file });
      if (why === null) continue;
      suspects = together(suspects, suspectsIn(exposure, await this.#leaves(store.chat), why));
      // An editor may have handed over a piece of the document only, or an older text than what a command wrote.
      suspects = together(suspects, await this.#found(store.path, exposure, why));
    }
    this.#seen = suspects;
    return this.#options.readOnly ? null : await this.#keep(suspects, true);
  }

  /** Whether the first block, of which this is what it says, could be a command's. */
  suspectsBlock(said: Pick<Leaves, "block">): boolean {
    return blockIsSuspect(said, this.suspects);
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
      ...vouched(await this.#leaves(store.chat), null),
    };
    try {
      for (const each of nameJournal === null ? [journal] : [journal, nameJournal]) {
        const open = each.exposure();
        if (open !== null || each.suspects() !== null) await each.recordSuspects(null);
        if (open !== null) await each.recordExposure({ ...open, ...now });
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
    const exposure: Exposure = {
      name: named,
      leads: path,
      file,
      ...vouched(leaves, journal.suspects()),
    };
    try {
      // Before the command, so that the next run knows even if this one is killed.
      await journal.recordExposure(exposure);
      await nameJournal?.recordExposure(exposure);
    } catch (thrown) {
      this.#begun = null;
      return unkept(thrown);
    }
    this.#exposure = exposure;
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
    this.#exposure = null;
    this.#begun = null;
  }

  async #end(): Promise<Problem | null> {
    const { store: { path }, environment, journal } = this.#options;
    if (path === null || this.#exposure === null) return null;
    // With what this program approved meanwhile.
    const exposure = journal.exposure() ?? this.#exposure;
    const why = breachSince(exposure, { path, file: identityOf(path) });
    const suspects = why === null ? null : await this.#found(path, exposure, why);
    // A name that leads elsewhere now stays recorded: whoever opens it finds what is there.
    const leads = await knownPath(environment, exposure.name);
    return await this.#keep(together(journal.suspects(), suspects), leads === path);
  }

  /** What stands in the file now that was not vouched for. */
  async #found(path: string, exposure: Exposure, why: string): Promise<Suspects | null> {
    let bytes: Uint8Array;
    try {
      bytes = await Deno.readFile(path);
    } catch (thrown) {
      if (isMissing(thrown)) return null;
      throw thrown;
    }
    return suspectsIn(exposure, await this.#leaves(parse(bytes)), why);
  }

  async #keep(suspects: Suspects | null, nameToo: boolean): Promise<Problem | null> {
    const { journal, nameJournal } = this.#options;
    try {
      await journal.recordSuspects(suspects);
      if (nameToo && nameJournal?.exposure()) await nameJournal.recordSuspects(null);
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
    return { approved: Object.fromEntries(approved), ...await this.#options.said(chat) };
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
