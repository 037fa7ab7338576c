// The folder with the helpers of one document: makes it, finds helpers in it, and records what this machine asked.

import type { Environment } from "../../../base/environment.ts";
import { isThere, mayBeThere } from "../../../base/files.ts";
import { helperFolderOf } from "../../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import { callHash } from "../../../cycle/plan/call_hash.ts";
import { holderOf } from "../../../cycle/storage/lock.ts";
import { readDocument } from "../../../cycle/storage/read.ts";
import { parse } from "../../../parser/mod.ts";
import type { Call, Chat } from "../../../parser/types.ts";
import type { HelperState } from "./cleaning.ts";
import { ASK_TOOL, helperPath, shownPath, unusedName } from "./names.ts";
import { waitsForPerson } from "./question.ts";
import {
  HelperRecords,
  isRecorded,
  type KnownHelper,
  type KnownHelpers,
  type RecordedQuestion,
} from "./record.ts";

/** A helper of a document. */
export interface FoundHelper {
  readonly name: string;
  /** Path of its document. */
  readonly path: string;
  readonly known: KnownHelper;
}

/** The helper that a call asked, as it is now. */
export interface HelperOfCall {
  readonly call: Call;
  readonly name: string;
  /** Path of its document. */
  readonly path: string;
  readonly state: HelperState | "link" | "unreadable";
  /** Its document; null if there is none to read. */
  readonly chat: Chat | null;
}

/** The helpers of the document at a real path. */
export class HelperFolder {
  readonly caller: string;
  readonly folder: string;
  readonly #records: HelperRecords;
  /** True if this run made the folder, in which there is no helper yet. */
  #isNew = false;
  /** Changes of the record, one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(environment: Environment, caller: string) {
    this.caller = caller;
    this.folder = helperFolderOf(caller);
    this.#records = new HelperRecords(environment);
  }

  /**
   * Makes the folder before any command begins, because commands may not make it. Nothing is made where the document's
   * folder forbids it; a question then fails with the reason.
   */
  prepare(): void {
    if (isThere(this.folder)) return;
    try {
      Deno.mkdirSync(this.folder, { mode: 0o777 });
      this.#isNew = true;
    } catch {
      // A question to a helper tries again, and reports the reason.
    }
  }

  /** Removes the folder that this run made if no helper is in it. */
  tidy(): void {
    if (!this.#isNew) return;
    this.#isNew = false;
    try {
      Deno.removeSync(this.folder);
    } catch {
      // A person has put something into it, or removed it.
    }
  }

  /** Finds the helper that an earlier run, or a killed one, asked by this call; null if none was asked. */
  async ofCall(
    call: Omit<RecordedQuestion, "turn">,
  ): Promise<FoundHelper & { readonly turn: number } | null> {
    const own = await this.#records.read(this.folder);
    const records = own === null ? [] : [{ ...own, folder: this.folder }];
    const moved = () => this.#recordsWith([call]).filter(({ caller }) => !isThere(caller));
    return askedBy(call, records) ?? askedBy(call, moved());
  }

  /**
   * Finds a helper by its short name. A document that was renamed finds its helpers at the old place.
   *
   * @param calls the calls of this document that may have asked helpers
   * @returns the helper. Fails with `helper-missing`, `helper-of-other` or `helper-untrusted`; the message is for the
   * model
   */
  async find(name: string, calls: readonly Omit<RecordedQuestion, "turn">[]): Promise<Outcome<FoundHelper>> {
    const own = await this.#records.read(this.folder);
    const path = helperPath(this.caller, name);
    const helper = own?.helpers[name];
    if (helper !== undefined && Object.hasOwn(own!.helpers, name)) {
      const wrong = wrongFile(path, shownPath(this.caller, name));
      return wrong === null ? success({ name, path, known: helper }) : failure("helper-untrusted", wrong);
    }
    if (isThere(path)) {
      return failure(
        "helper-untrusted",
        `${
          shownPath(this.caller, name)
        } was not made by flemma on this machine, so it cannot be continued. ` +
          "Ask a new helper.",
      );
    }
    for (const record of this.#recordsWith(calls)) {
      if (!Object.hasOwn(record.helpers, name)) continue;
      if (isThere(record.caller)) {
        return failure(
          "helper-of-other",
          `The helper ${name} belongs to ${record.caller}. Ask a new helper.`,
        );
      }
      return success({ name, path: `${record.folder}/${name}.chat`, known: record.helpers[name]! });
    }
    const names = Object.keys(own?.helpers ?? {});
    return failure(
      "helper-missing",
      `There is no helper ${name}. ${
        names.length === 0 ? "This document has none yet." : `There are: ${names.join(", ")}.`
      }`,
    );
  }

  /**
   * Chooses a name for a new helper, and records the question before anything is written. Fails with
   * `helper-folder` or `helper-place`; the message is for the model.
   */
  async add(
    wanted: string,
    asked: Omit<RecordedQuestion, "turn">,
  ): Promise<Outcome<FoundHelper>> {
    return await this.#change(async () => {
      const known = await this.#ownRecord();
      if (!known.ok) return known;
      const { helpers } = known.value;
      const name = unusedName(
        wanted,
        (each) => Object.hasOwn(helpers, each) || isThere(helperPath(this.caller, each)),
      );
      const helper: KnownHelper = { asked: [{ ...asked, turn: 0 }] };
      await this.#write({ ...known.value, helpers: { ...helpers, [name]: helper } });
      return success({ name, path: helperPath(this.caller, name), known: helper });
    });
  }

  /** Records the next question to a helper before it is written. */
  async ask({ name, path }: FoundHelper, asked: RecordedQuestion): Promise<Outcome<void>> {
    return await this.#change(async () => {
      const folder = path.slice(0, path.lastIndexOf("/"));
      const known = await this.#records.read(folder);
      const helper = known?.helpers[name];
      if (known === null || helper === undefined) {
        return failure("helper-missing", `The helper ${name} is gone.`);
      }
      const helpers = { ...known.helpers, [name]: { ...helper, asked: [...helper.asked, asked] } };
      await this.#records.write(folder, { ...known, folder, helpers });
      return success(undefined);
    });
  }

  /** Records the worktree of a helper before anything is written into it. */
  async giveWorktree({ name }: FoundHelper, worktree: string): Promise<Outcome<void>> {
    return await this.#change(async () => {
      const known = await this.#ownRecord();
      if (!known.ok) return known;
      const { helpers } = known.value;
      await this.#write({ ...known.value, helpers: { ...helpers, [name]: { ...helpers[name]!, worktree } } });
      return success(undefined);
    });
  }

  /** Names and paths of the helpers that this machine asked for this document. */
  async all(): Promise<readonly FoundHelper[]> {
    const known = await this.#records.read(this.folder);
    return Object.entries(known?.helpers ?? {})
      .map(([name, helper]) => ({ name, path: helperPath(this.caller, name), known: helper }));
  }

  async #ownRecord(): Promise<Outcome<KnownHelpers>> {
    const shown = shownPath(this.caller, "").slice(0, -"/.chat".length);
    try {
      if (!isThere(this.folder)) {
        Deno.mkdirSync(this.folder, { mode: 0o777 });
        this.#isNew = true;
      }
    } catch (thrown) {
      return failure("helper-folder", `The folder ${shown} cannot be created: ${thrownText(thrown)}.`);
    }
    const info = Deno.lstatSync(this.folder);
    if (!info.isDirectory) {
      return failure(
        "helper-place",
        `${shown} is ${
          info.isSymlink ? "a symbolic link" : "not a folder"
        }, so there is no place for helpers. ` +
          "The user can move it away.",
      );
    }
    const known = await this.#records.read(this.folder);
    if (known !== null) return success({ ...known, folder: this.folder, caller: this.caller });
    if (!this.#isNew && !isEmpty(this.folder)) {
      return failure(
        "helper-place",
        `The folder ${shown} was not made by flemma on this machine, so no helper is put into it. ` +
          `The user can move it away.`,
      );
    }
    return success({ folder: this.folder, caller: this.caller, helpers: {} });
  }

  async #write(known: KnownHelpers): Promise<void> {
    await this.#records.write(this.folder, known);
    this.#isNew = false;
  }

  /** Records of other documents in which these calls asked a helper. */
  #recordsWith(calls: readonly Omit<RecordedQuestion, "turn">[]): KnownHelpers[] {
    return this.#records.all().filter(({ helpers, folder }) =>
      folder !== this.folder &&
      Object.values(helpers).some(({ asked }) =>
        asked.some((each) => calls.some((call) => isSame(each, call)))
      )
    );
  }

  async #change<T>(change: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const turn = this.#last.then(async (): Promise<Outcome<T>> => {
      try {
        return await change();
      } catch (thrown) {
        return failure("state-unwritable", `The helper cannot be recorded: ${thrownText(thrown)}.`);
      }
    });
    this.#last = turn;
    return await turn;
  }
}

/** Identifies a call, also after its document was renamed. */
export async function identifyCall(chat: Chat, call: Call): Promise<Omit<RecordedQuestion, "turn">> {
  const hash = await callHash(call);
  const same = chat.calls.filter(({ id, name, inputText }) =>
    id === call.id && name === call.name && inputText === call.inputText
  );
  return { id: call.id, hash, nth: same.findIndex(({ place }) => place.from === call.place.from) };
}

/**
 * Returns the helpers that the calls of a document asked on this machine, in the order of the calls. The text of the
 * document cannot name others.
 */
export async function helpersOfCalls(
  environment: Environment,
  caller: string,
  chat: Chat,
): Promise<readonly HelperOfCall[]> {
  const folder = new HelperFolder(environment, caller);
  const all: HelperOfCall[] = [];
  for (const call of chat.calls) {
    if (call.name !== ASK_TOOL) continue;
    const found = await folder.ofCall(await identifyCall(chat, call));
    // A folder that replaced the recorded one is not searched.
    if (found === null || !await isRecorded(environment, found.path)) continue;
    const { name, path } = found;
    all.push({ call, name, path, ...await currentState(environment, path) });
  }
  return all;
}

async function currentState(
  environment: Environment,
  path: string,
): Promise<Pick<HelperOfCall, "state" | "chat">> {
  if (!mayBeThere(path)) return { state: "missing", chat: null };
  const read = await readDocument(path, environment);
  if (!read.ok) return { state: "unreadable", chat: null };
  if (read.value.realPath !== path) return { state: "link", chat: null };
  const chat = parse(read.value.bytes);
  const isRunning = await holderOf(path, environment) !== null;
  return { state: isRunning ? "running" : waitsForPerson(chat) ? "waits" : "idle", chat };
}

/** Finds the helper that a call asked. */
function askedBy(
  call: Omit<RecordedQuestion, "turn">,
  records: readonly KnownHelpers[],
): FoundHelper & { readonly turn: number } | null {
  for (const { folder, helpers } of records) {
    for (const [name, known] of Object.entries(helpers)) {
      const asked = known.asked.find((each) => isSame(each, call));
      if (asked !== undefined) return { name, path: `${folder}/${name}.chat`, known, turn: asked.turn };
    }
  }
  return null;
}

function isSame(a: Omit<RecordedQuestion, "turn">, b: Omit<RecordedQuestion, "turn">): boolean {
  return a.id === b.id && a.hash === b.hash && a.nth === b.nth;
}

/** Returns why the document of a helper cannot be used, for the model; null if it can. */
function wrongFile(path: string, shown: string): string | null {
  if (!isThere(path)) return null;
  const { isFile, isSymlink } = Deno.lstatSync(path);
  if (isFile) return null;
  return `${shown} is ${
    isSymlink ? "a symbolic link" : "not a file"
  }, so it cannot be continued. Ask a new helper.`;
}

function isEmpty(folder: string): boolean {
  return [...Deno.readDirSync(folder)].length === 0;
}
