// Whether the approvals in a document were given here: gathers what the journals and git say, once for each call.

import type { Environment } from "../../base/environment.ts";
import { operands } from "../../base/shell_word.ts";
import { joinNames } from "../../base/names.ts";
import { thrownText } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { callHash, permittedHash } from "../../cycle/plan/call_hash.ts";
import { isSameConversation, turnsBefore } from "../../cycle/plan/conversation.ts";
import type { AskedAlthough, DocumentStore, Emit, Journal, KnownCall } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import type { Call, Chat } from "../../parser/types.ts";
import { approvedCalls, isApproved } from "./approved_calls.ts";
import { type Doubt, doubtOf, doubtText, type GitFacts, type JournalFacts } from "./approval_origin.ts";
import type { Committed } from "./committed.ts";
import { JournalSearch } from "./journal_search.ts";
import { couldBeMade, isApprovalOf, newApprovals, settleCommands } from "./other_documents.ts";
import { hashOf } from "./tamper_check.ts";

export interface OriginOptions {
  readonly environment: Environment;
  readonly setting: Settings["trust"]["approvals"];
  readonly store: DocumentStore;
  readonly journal: Journal;
  /** Asks git for the committed text of the document. */
  readonly committed: () => Promise<Committed>;
  readonly emit: Emit;
  /** Records nothing and reports nothing. */
  readonly readOnly: boolean;
}

export class ApprovalOrigins {
  readonly #options: OriginOptions;
  /** By id, for calls that have said `approved` since they were compared. */
  readonly #doubts = new Map<string, { readonly permits: string; readonly doubt: Promise<Doubt | null> }>();
  /** The version of the document that `#doubts` belong to. */
  #seen: Chat | null = null;
  /** Why the calls that were doubted wait. */
  readonly #asked = new Map<string, AskedAlthough>();
  /** What git said, and for which version of the document: a pull may change both during a session. */
  #committed: { readonly chat: Chat; readonly text: Promise<Committed> } | null = null;
  /** The journal of a document from before this version, until the end of this run. */
  readonly #predates: boolean;
  readonly #reported = new Set<string>();
  readonly #others: JournalSearch;

  constructor(options: OriginOptions) {
    this.#options = options;
    this.#predates = options.journal.predates;
    this.#others = new JournalSearch(options.environment);
  }

  /** Why the approval of a call does not count, as the end of a sentence; null if it counts, or if there is none. */
  async doubt(id: string): Promise<string | null> {
    const found = await this.#doubtOf(id);
    if (found === null) return null;
    await this.#report();
    return doubtText(found);
  }

  /** What the person is asked although the text says `approved`. */
  askedAlthough(id: string): AskedAlthough | null {
    return this.#asked.get(id) ?? null;
  }

  /** The sentences about approvals that do not count, each with its calls and the commands that approve them. */
  async sentences(): Promise<string[]> {
    const { store: { chat, path } } = this.#options;
    if (path === null) return [];
    const doubts = new Map<string, { readonly doubt: Doubt; readonly ids: string[] }>();
    for (const { id } of approvedCalls(chat)) {
      const doubt = await this.#doubtOf(id);
      if (doubt === null) continue;
      const known = doubts.get(doubtText(doubt));
      if (known === undefined) doubts.set(doubtText(doubt), { doubt, ids: [id] });
      else known.ids.push(id);
    }
    return [...doubts.values()].map(({ doubt, ids }) => {
      const several = ids.length > 1;
      const which = several ? `${joinNames(ids)} wait` : `${ids[0]} waits`;
      const why = doubtText(doubt, several ? "several" : "one");
      return `${which} for you: ${why}. To approve: flemma approve ${operands(path, ...ids)}. ` +
        `To look first: flemma review ${operands(path)}`;
    });
  }

  /** Reports each sentence once in a run. */
  async #report(): Promise<void> {
    const { emit, readOnly } = this.#options;
    if (readOnly) return;
    for (const message of await this.sentences()) {
      if (this.#reported.has(message)) continue;
      this.#reported.add(message);
      emit({ event: "notice", code: "approval-not-here", message });
    }
  }

  async #doubtOf(id: string): Promise<Doubt | null> {
    const { store: { chat, path }, setting } = this.#options;
    const call = chat.call(id);
    if (path === null || setting === "anywhere" || call === undefined || !isApproved(chat, id)) return null;
    const [hash, permits] = await Promise.all([callHash(call), permittedHash(chat, call)]);
    const approval = this.#options.journal.approval(id);
    // A decision of this run counts at once, for one run of the call.
    const isFresh = this.#options.journal.isFromThisRun(id) && !this.#options.journal.hasRun(id);
    if (isApprovalOf(approval, permits) && isFresh) {
      this.#asked.delete(id);
      return null;
    }
    this.#forgetOthers(chat);
    const known = this.#doubts.get(id);
    if (known?.permits === permits) return await known.doubt;
    const doubt = this.#find(chat, call, hash);
    this.#doubts.set(id, { permits, doubt });
    return await doubt;
  }

  /** Forgets calls that no longer say `approved`: a later approval is another one. */
  #forgetOthers(chat: Chat): void {
    if (chat === this.#seen) return;
    this.#seen = chat;
    for (const id of [...this.#doubts.keys()]) if (!isApproved(chat, id)) this.#doubts.delete(id);
  }

  async #find(chat: Chat, call: Call, hash: string): Promise<Doubt | null> {
    const facts = await this.#journalFacts(chat, call, hash);
    const doubt = await doubtOf(this.#options.setting, facts, () => this.#gitFacts(chat, call, hash));
    if (doubt === null) this.#asked.delete(call.id);
    if (doubt === null) return await this.#counts(chat, call, hash, facts);
    if (doubt.code === "ran") this.#asked.set(call.id, { ...facts.asked, ran: true });
    return doubt;
  }

  /** Records the call before it can run here, so that it does not run in a copy as well. */
  async #counts(
    chat: Chat,
    call: Call,
    hash: string,
    { predates, approved }: JournalFacts,
  ): Promise<Doubt | null> {
    const { journal, readOnly } = this.#options;
    if (readOnly) return null;
    try {
      if (predates && !approved) this.#reportKept();
      const held = { hash, turns: await turnsBefore(chat, call) };
      await journal.recordApprovals(new Map(), new Map([[call.id, held]]));
      return null;
    } catch (thrown) {
      return { code: "state", why: thrownText(thrown) };
    }
  }

  async #journalFacts(chat: Chat, call: Call, hash: string): Promise<JournalFacts> {
    const { journal, store: { path } } = this.#options;
    const [turns, permits] = await Promise.all([turnsBefore(chat, call), permittedHash(chat, call)]);
    // Commands of another document may have begun since this run read its journal.
    journal.reread();
    const reached = [...journal.reached().values()].map(({ approved }) =>
      newApprovals(approved, { [call.id]: permits }, journal)
    );
    const written = [journal.tampered(), ...reached].find((each) =>
      each !== null && hashOf(each.calls, call.id) === permits
    );
    const isThis = (held: KnownCall | null) =>
      held !== null && held.hash === hash && isSameConversation(held.turns, turns);
    const approval = journal.approval(call.id);
    const held = journal.held(call.id);
    const isHere = isThis(held);
    // An approval from before this version has no turns.
    const approved = isApprovalOf(approval, permits) && (held === null || isHere);
    const others = await this.#others.find(path!, call.id, hash);
    const copies = others.filter(({ held }) => isThis(held));
    return {
      approved: approved || (!isHere && copies.some((copy) => copy.approved)),
      waited: isHere || copies.length > 0,
      ran: (isHere && journal.hasRun(call.id)) ||
        copies.some(({ ranAt }) => ranAt !== null && !(approved && journal.decidedAt(call.id) > ranAt)),
      predates: this.#predates,
      written: written?.why ?? (!isHere && copies.length > 0 ? await this.#madeByCommand(path!) : null),
      asked: (isHere ? held?.asked : null) ?? {},
    };
  }

  /** Returns how commands could have made a copy of a document, as the end of a sentence; null if they could not. */
  async #madeByCommand(path: string): Promise<string | null> {
    const { environment, readOnly } = this.#options;
    if (!readOnly) await settleCommands(environment);
    return await couldBeMade(environment, path) ? "commands ran when this copy was saved, or later" : null;
  }

  async #gitFacts(chat: Chat, call: Call, hash: string): Promise<GitFacts> {
    const found = await this.#committedText(chat);
    if (found.is !== "tracked") return found;
    const approves = await Promise.all(found.texts.map(async (text) => {
      const other = parse(text);
      const there = other.call(call.id);
      return there !== undefined && isApproved(other, call.id) && await callHash(there) === hash;
    }));
    return { is: "tracked", approves: approves.includes(true) };
  }

  #committedText(chat: Chat): Promise<Committed> {
    if (this.#committed?.chat !== chat) this.#committed = { chat, text: this.#options.committed() };
    return this.#committed.text;
  }

  /** Reports once that approvals from before this version count, and that later ones are checked. */
  #reportKept(): void {
    const { emit, store: { path } } = this.#options;
    if (this.#reported.has("kept")) return;
    this.#reported.add("kept");
    const message =
      `The approvals in ${path} count this once, because an earlier version of flemma did not record where ` +
      "approvals were given.";
    emit({ event: "notice", code: "approvals-kept", message });
  }
}
