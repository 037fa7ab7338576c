// One document that is open in the editor: its text, a read-only `ChatSession`, and the run that changes it.

import { chatInMemory, type RequestLimiter } from "../../agent/open.ts";
import { JobKeeper } from "../../agent/runtime/jobs/keeper.ts";
import type { ChatSession } from "../../agent/types.ts";
import type { Environment } from "../../base/environment.ts";
import { realPathOrNull } from "../../base/files.ts";
import { isObject } from "../../base/is_object.ts";
import { pathOfUri } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { lockPlaceOf } from "../../agent/settings.ts";
import { lockDocument, ReleasableLock } from "../../cycle/storage/lock.ts";
import type { CycleEvent, Emit } from "../../cycle/types.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { BufferStore } from "./buffer_store.ts";
import { type Client, memberOf, MessageType } from "./client.ts";
import { type Counted, type Encoding, toOffset, toPosition, toRange } from "./positions.ts";
import { editsBetween, sameText } from "./text_edits.ts";

export interface DocumentHost {
  readonly environment: Environment;
  readonly client: Client;
  /** Limits the requests to a provider, for all documents together. */
  readonly limiter: RequestLimiter;
  /** Called when the text, or what is known about its calls, has changed. */
  readonly changed: (document: OpenDocument) => void;
}

/** A `ChatSession` that may change the document, under its lock. */
export interface Working {
  readonly session: ChatSession;
  close(): Promise<void>;
}

export class OpenDocument {
  readonly uri: string;
  readonly path: string | null;
  readonly store: BufferStore;
  readonly jobKeeper = new JobKeeper({
    ends: "when the editor closes this document",
    stopped: "with the document",
  });
  readonly #host: DocumentHost;
  #readOnly: Promise<Outcome<ChatSession>> | null = null;
  #working: Working | null = null;
  /** True if the document is being opened for work, which takes a moment. */
  #opening = false;
  /**
   * Settles when short work, or the end of a run, is over; null if there is none. Other work waits for this promise
   * instead of being refused.
   */
  #brief: Promise<void> | null = null;
  /** Edits offered as approvals, with the version they apply to. */
  #approvals: { readonly version: number; readonly id: string; readonly edits: readonly Edit[] }[] = [];
  /** Id of the call whose offered approval the last change made; null if it was another change. */
  #approved: string | null = null;
  /** Number of times that the text was changed by others than a run. */
  foreignChanges = 0;

  constructor(uri: string, text: string, version: number, host: DocumentHost) {
    const named = pathOfUri(uri);
    this.uri = uri;
    // The state of a document belongs to its real path. A document that was never saved has the given path.
    this.path = named === null ? null : realPathOrNull(named) ?? named;
    this.#host = host;
    const { environment, client } = host;
    this.store = new BufferStore(text, version, {
      environment,
      path: this.path,
      named,
      ask: ({ version, chat, edits }) =>
        client.applyEdit("flemma: reply", {
          uri,
          version,
          edits: edits.map((edit) => textEdit({ chat, encoding: this.#encoding }, edit)),
        }),
      changed: () => host.changed(this),
      notify: (problem) => client.problem(problem),
    });
  }

  get #encoding(): Encoding {
    return this.#host.client.abilities.encoding;
  }

  /** The text in the editor, with the editor's way of counting. */
  get counted(): Counted {
    return { chat: this.store.buffer, encoding: this.#encoding };
  }

  /** True if the editor is being asked for an edit. Then features that read the text should wait a moment. */
  get isUnsettled(): boolean {
    return this.store.chat !== this.store.buffer;
  }

  get isBusy(): boolean {
    return this.#opening || this.#working !== null;
  }

  /** The `ChatSession` of the run that works on the document now. */
  get working(): ChatSession | null {
    return this.#brief === null ? this.#working?.session ?? null : null;
  }

  /** Opens a read-only `ChatSession` for questions about the document. Fails with what is wrong in the settings. */
  async openReadOnly(): Promise<Outcome<ChatSession>> {
    const { working } = this;
    if (working !== null) return success(working);
    const readOnly = this.#readOnly ??= chatInMemory(NOTHING, {
      environment: this.#host.environment,
      store: this.store,
      readOnly: true,
    });
    const session = await readOnly;
    // The fault may be corrected by the next time, so it is not cached.
    if (!session.ok && this.#readOnly === readOnly) this.#readOnly = null;
    return session;
  }

  /** Drops what was read of settings, approvals and other runs, because these may have changed. */
  forget(): void {
    this.#readOnly = null;
  }

  /**
   * Opens the document for work, under its lock. Fails with `busy` while other work runs here, with `document-locked`
   * while another program works on it, or with what is wrong in the settings.
   */
  async work(
    options: { readonly emit?: Emit; readonly signal?: AbortSignal; readonly brief?: boolean },
  ): Promise<Outcome<Working>> {
    while (this.#brief !== null) await this.#brief;
    const { refusal } = this.store;
    if (refusal !== null) return { ok: false, problem: refusal };
    if (this.isBusy) {
      return failure("busy", "A run is using this document.", "Wait for it to end, or cancel it.");
    }
    this.#opening = true;
    const ended = Promise.withResolvers<void>();
    const hold = () => void (this.#brief = ended.promise);
    const over = () => {
      if (this.#brief === ended.promise) this.#brief = null;
      ended.resolve();
    };
    if (options.brief === true) hold();
    try {
      const opened = await this.#open(options, { hold, over });
      if (!opened.ok) over();
      return opened;
    } finally {
      this.#opening = false;
    }
  }

  async #open(
    options: { readonly emit?: Emit; readonly signal?: AbortSignal; readonly brief?: boolean },
    { hold, over }: { readonly hold: () => void; readonly over: () => void },
  ): Promise<Outcome<Working>> {
    const { environment } = this.#host;
    const locked = await this.#lock();
    if (!locked.ok) return locked;
    const lock = this.store.lock = locked.value;
    const opened = await chatInMemory(NOTHING, {
      ...options,
      environment,
      limiter: this.#host.limiter,
      store: this.store,
      jobs: this.path !== null,
      // Short work runs nothing, and has nobody who hears what jobs do later.
      jobKeeper: options.brief === true ? undefined : this.jobKeeper,
      emit: (event) => {
        if (event.event === "request:sending") this.store.expectReply(true);
        options.emit?.(event);
        // Jobs may end between two runs.
        if (event.event === "job:finished") this.#host.changed(this);
      },
    });
    if (!opened.ok) {
      await lock?.release();
      return opened;
    }
    const session = opened.value;
    const close = async () => {
      hold();
      const problem = await this.store.deliver();
      if (problem !== null) this.#host.client.problem(problem);
      await session[Symbol.asyncDispose]();
      this.store.expectReply(false);
      const left = await lock?.release() ?? null;
      if (left !== null) this.#host.client.log(left.message);
      this.#working = null;
      this.forget();
      over();
      this.#host.changed(this);
    };
    this.#working = { session, close };
    this.forget();
    return success(this.#working);
  }

  /** Takes the document's lock; null for a document without a path. */
  async #lock(): Promise<Outcome<ReleasableLock | null>> {
    const { path } = this;
    if (path === null) return success(null);
    const { environment, client } = this.#host;
    const options = { environment, place: (await lockPlaceOf({ environment }, path))?.place };
    const lock = await lockDocument(path, { ...options, wait: 0 });
    if (!lock.ok) return lock;
    if (lock.value.notice) client.say(MessageType.info, lock.value.notice.message);
    return success(new ReleasableLock(path, lock.value, options));
  }

  /**
   * Applies the editor's changes. After a change that cannot be read, the text is unknown until the editor sends all of
   * it.
   */
  change(version: number, changes: readonly unknown[]): void {
    const before = this.store.buffer;
    let chat: Chat | null = this.store.refusal === null ? before : null;
    for (const change of changes) chat = applied(chat, change, this.#encoding);
    if (chat === null) {
      this.#approvals = [];
      this.#approved = null;
      this.store.loseSync();
      return;
    }
    const single = changes.length === 1 ? editOf(before, changes[0], this.#encoding) : null;
    const edits = single === null ? editsBetween(before.bytes, chat.bytes) : [single];
    if (this.store.chat === before) this.foreignChanges++;
    const approved = this.#approvals.find(({ version, edits }) =>
      version === this.store.version && sameText(chat, update(before, edits))
    );
    this.#approved = approved?.id ?? null;
    this.#approvals = [];
    this.store.take(version, chat, edits);
  }

  /**
   * True once if the last change made the approval of this call that was offered. The editor reports that the person
   * chose it, because a file that it reads again could contain the same change.
   */
  takeApproval(id: string): boolean {
    const isTaken = this.#approved === id;
    this.#approved = null;
    return isTaken;
  }

  /** Remembers edits that approve the call if the person accepts them. */
  offerApproval(id: string, edits: readonly Edit[]): void {
    this.#approvals.push({ version: this.store.version, id, edits });
  }

  /** Converts an edit of the editor's text to the protocol's form. */
  textEdit(edit: Edit) {
    return textEdit(this.counted, edit);
  }
}

const NOTHING = new Uint8Array(0);

/** True if an event affects what is shown about calls. */
export function concernsCalls({ event }: CycleEvent): boolean {
  return ["tool:executing", "tool:waiting", "tool:finished", "approval:pending"].includes(event);
}

function textEdit(counted: Counted, { from, to, insert }: Edit) {
  return { range: toRange(counted, { from, to }), newText: insert };
}

/**
 * Returns the text after one change. Null means an unknown text: it was unknown before the change, or the change
 * cannot be read.
 */
function applied(chat: Chat | null, change: unknown, encoding: Encoding): Chat | null {
  // Only a change without `range` contains the whole text. A change whose range cannot be read contains only a part,
  // which must not replace the whole text.
  if (isObject(change) && !Object.hasOwn(change, "range") && typeof change.text === "string") {
    return parse(new TextEncoder().encode(change.text));
  }
  const edit = chat === null ? null : editOf(chat, change, encoding);
  return edit === null ? null : update(chat!, [edit]);
}

/** Converts a change of a part of the text to an edit; null for any other change. */
function editOf(chat: Chat, change: unknown, encoding: Encoding): Edit | null {
  const text = memberOf(change, ["text"]);
  const range = rangeIn(memberOf(change, ["range"]));
  if (typeof text !== "string" || range === null) return null;
  const counted = { chat, encoding };
  const places = [range.start, range.end].map((position) => ({
    position,
    offset: toOffset(counted, position),
  }));
  const [first, last] = places.sort((a, b) => a.offset - b.offset) as [Spot, Spot];
  // Some editors report a change of one half of a surrogate pair; the other half stays.
  const [head, tail] = [halvesAt(counted, first)[0], halvesAt(counted, last)[1]];
  const to = last.offset + (tail === "" ? 0 : PAIR);
  return { from: first.offset, to, insert: `${head}${text}${tail}` };
}

/** A position, and the offset of the character that contains or follows it. */
interface Spot {
  readonly position: ReturnType<typeof toPosition>;
  readonly offset: number;
}

/** Number of bytes of a character that takes two code units in UTF-16. */
const PAIR = 4;

/** Returns the two code units around a position inside a character; empty if it is not inside one. */
function halvesAt(counted: Counted, { position, offset }: Spot): readonly [string, string] {
  const { chat, encoding } = counted;
  const lead = chat.slice(offset, offset + 1)[0] ?? 0;
  if (encoding !== "utf-16" || lead < 0xf0) return ["", ""];
  if (toPosition(counted, offset).character === position.character) return ["", ""];
  const pair = new TextDecoder().decode(chat.slice(offset, offset + PAIR));
  return [pair[0]!, pair[1]!];
}

/** Reads a range from the protocol; null for any other value. */
export function rangeIn(value: unknown): ReturnType<typeof toRange> | null {
  const [start, end] = [positionIn(memberOf(value, ["start"])), positionIn(memberOf(value, ["end"]))];
  return start === null || end === null ? null : { start, end };
}

/** Reads a position from the protocol; null for any other value. */
export function positionIn(value: unknown): { line: number; character: number } | null {
  const [line, character] = [memberOf(value, ["line"]), memberOf(value, ["character"])];
  return isCount(line) && isCount(character) ? { line, character } : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
