// Compares the approvals in other documents around commands that could write them.

import type { Environment } from "../../base/environment.ts";
import { isMissing } from "../../base/files.ts";
import { isObject } from "../../base/is_object.ts";
import { NotRegularFile, readRegular } from "../../base/system/regular_file.ts";
import { permittedHash } from "../../cycle/plan/call_hash.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import {
  commandsEnded,
  forgetWaiting,
  openCommands,
  recordCommands,
  recordCommandsEnd,
  waitingDocuments,
} from "../../cycle/storage/waiting_documents.ts";
import type { Approval, Journal, Reach, TamperedParts } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { identify, isAlive } from "../../sandbox/process/leftovers.ts";
import { approvedCalls } from "./approved_calls.ts";
import { hashOf } from "./tamper_check.ts";

const WRITTEN_ELSEWHERE = "a command of another document ran that could write the file";

type Hashes = Readonly<Record<string, string>>;

/** The other documents in reach of the commands of one run, or of one write by a tool. */
export class OtherDocuments {
  readonly #environment: Environment;
  readonly #own: string | null;
  readonly #run = crypto.randomUUID();
  #hasBegun = false;
  /** What each document said before, by its path. */
  #before = new Map<string, Hashes>();

  /** @param own real path of the document whose commands run; null if it is unsaved */
  constructor(environment: Environment, own: string | null) {
    this.#environment = environment;
    this.#own = own;
  }

  /** Records the content of the waiting documents that the commands can reach. Throws if that cannot be recorded. */
  async begin(inReach: (paths: readonly string[]) => boolean): Promise<void> {
    await settleCommands(this.#environment);
    await recordCommands(this.#environment, this.#run, JSON.stringify(thisProcess()));
    this.#hasBegun = true;
    for (const path of waitingDocuments(this.#environment)) {
      if (path === this.#own || !inReach([path])) continue;
      const approved = await approvedIn(path);
      if (approved === null) {
        await forgetWaiting(this.#environment, path);
        continue;
      }
      // Recorded before the command starts, so that it counts even if this run is killed.
      const journal = await this.#journal(path);
      await journal.recordReached(this.#run, { owner: thisProcess(), approved });
      this.#before.set(path, approved);
    }
  }

  /** Records the approvals that appeared meanwhile and that this program did not make. */
  async end(): Promise<void> {
    for (const [path, before] of this.#before) {
      const approved = await approvedIn(path) ?? {};
      const journal = await this.#journal(path);
      await journal.recordLeft(this.#run, newApprovals(before, approved, journal));
      // A command may have put a link to another file in its place; later runs use the journal of that file.
      const real = realPathOf(path);
      if (real === null || real === path || real === this.#own) continue;
      const other = await this.#journal(real);
      await other.recordLeft(this.#run, newApprovals(before, approved, other));
    }
    this.#before = new Map();
    if (this.#hasBegun) await recordCommandsEnd(this.#environment, this.#run);
    this.#hasBegun = false;
  }

  async #journal(path: string): Promise<Journal> {
    const opened = await openJournal({ environment: this.#environment, path });
    if (!opened.ok) throw new Error(opened.problem.message);
    return opened.value;
  }
}

/** Settles what commands of runs that are gone may have written into a document; returns what is unconfirmed. */
export async function settleReached(
  journal: Journal,
  approved: Hashes,
  { readOnly }: { readonly readOnly: boolean },
): Promise<TamperedParts[]> {
  const found: TamperedParts[] = [];
  for (const [by, reach] of journal.reached()) {
    const parts = newApprovals(reach.approved, approved, journal);
    if (parts !== null) found.push(parts);
    if (!readOnly && !isAlive(reach.owner)) await journal.recordLeft(by, parts);
  }
  return found;
}

/**
 * True if commands could have made a file, because none has written it since they ended. A file that a person saved
 * later is the person's own.
 */
export async function couldBeMade(environment: Environment, path: string): Promise<boolean> {
  if (openCommands(environment).length > 0) return true;
  // Commands can set neither of these times. The runtime gives the first one in whole seconds.
  const { ctime, birthtime } = Deno.statSync(path);
  const saved = Math.max(ctime?.getTime() ?? 0, birthtime?.getTime() ?? 0);
  return saved <= await commandsEnded(environment);
}

/** Records the end of commands whose run was killed. */
export async function settleCommands(environment: Environment): Promise<void> {
  for (const { run, text } of openCommands(environment)) {
    if (!isOfLiveRun(text)) await recordCommandsEnd(environment, run);
  }
}

/** True if the run of a record lives. A damaged record, as after a power failure, counts as that of a killed run. */
function isOfLiveRun(text: string): boolean {
  let owner: unknown;
  try {
    owner = JSON.parse(text);
  } catch {
    return false;
  }
  return isObject(owner) && isAlive(owner as unknown as Reach["owner"]);
}

function thisProcess(): Reach["owner"] {
  return identify(Deno.pid) ?? { pid: Deno.pid, started: "" };
}

/** True if a recorded approval permits a call with the answers in its block, given their hash. */
export function isApprovalOf(approval: Approval | null, permits: string): boolean {
  return approval !== null && (approval.permits ?? approval.hash) === permits && approval.asked !== true;
}

/** Approvals that appeared in a text and that no command of this program made; null if there are none. */
export function newApprovals(
  before: Hashes,
  now: Hashes,
  journal: Pick<Journal, "approval">,
): TamperedParts | null {
  const calls = Object.entries(now).filter(([id, hash]) => {
    return hashOf(before, id) !== hash && !isApprovalOf(journal.approval(id), hash);
  });
  return calls.length === 0
    ? null
    : { why: WRITTEN_ELSEWHERE, calls: Object.fromEntries(calls), block: null };
}

function realPathOf(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

/** Hashes of the approved calls of the document at a path; null if there is no regular file. */
async function approvedIn(path: string): Promise<Hashes | null> {
  const bytes = await readIfRegular(path);
  if (bytes === null) return null;
  const chat = parse(bytes);
  const calls = approvedCalls(chat);
  return Object.fromEntries(
    await Promise.all(calls.map(async (call) => [call.id, await permittedHash(chat, call)])),
  );
}

async function readIfRegular(path: string): Promise<Uint8Array | null> {
  try {
    return await readRegular(path);
  } catch (thrown) {
    if (isMissing(thrown) || thrown instanceof NotRegularFile) return null;
    throw thrown;
  }
}
