// Remembers with which key each signed block of thinking was made, and which blocks the provider refuses with a key.
//
// OpenAI and Gemini refuse a request with thinking that another account has signed. The journal knows by digests which
// blocks these are, so that requests omit them, and only them, and only while that key is used.

import { quickHash, sha256 } from "../../../base/hash.ts";
import { thrownText } from "../../../base/problem.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import type { Prompt } from "../../../prompt/types.ts";
import { tagName } from "../../../providers/request/foreign.ts";
import type { Credential } from "../../../providers/keys/types.ts";
import type { DroppedThinking, Effect, Provider, ThinkingPart } from "../../../providers/types.ts";
import { NO_THINKING } from "../../storage/thinking_memory.ts";
import type { Journal, ThinkingEntry } from "../../types.ts";
import { droppedNotices } from "./notices.ts";
import { thinkingKey } from "./preserved.ts";

/** What is left out of a request because of the key. */
export interface OriginEvaluation {
  /** All thinking that the provider signed, in order. */
  readonly signed: readonly ThinkingPart[];
  readonly leftOut: ReadonlySet<ThinkingPart>;
  /** Thinking that is left out and was not reported yet. */
  readonly news: readonly ThinkingPart[];
  /** True if the thinking is known to have been made with the current key. */
  isOwn(part: ThinkingPart): boolean;
}

/** A value noted about a digest; null if nothing was noted. */
type Recall = (about: string) => string | null;

/**
 * Returns a digest of the account that signs thinking: of the provider's owner or of the key; null if that is unknown.
 * A key that expires says nothing, because the next one differs.
 */
export async function accountOf(
  { owner }: Pick<Provider, "owner">,
  settings: Settings,
  { secret, source, lifetime }: Credential,
): Promise<string | null> {
  const expires = lifetime !== undefined || WEB_TOKEN.test(secret);
  const key = source === null || expires ? null : secret;
  const account = owner === undefined ? key : owner(settings);
  return account === null ? null : (await sha256(`account ${account}`)).slice(0, 16);
}

/** Matches JSON web tokens, which always expire. */
const WEB_TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

/** Returns the account of the last reply of a provider in this document; null if none is known. */
export function lastAccount(provider: string, recall: Recall): string | null {
  return recall(lastNote(provider));
}

/** Decides which signed thinking a provider cannot accept with the current key. */
export function evaluateOrigin(
  { history }: Prompt,
  provider: string,
  account: string | null,
  recall: Recall,
): OriginEvaluation {
  const tag = tagName(provider);
  const signed = history.flatMap(({ parts }) => parts).filter((part): part is ThinkingPart =>
    part.kind === "thinking" && part.signature?.provider === tag && part.signature.value !== ""
  );
  const makerOf = (part: ThinkingPart) => recall(makerNote(thinkingKey(part)));
  const isKnown = (part: ThinkingPart) => recall(omissionNote(thinkingKey(part), account)) !== null;
  const isForeign = (part: ThinkingPart) => {
    const maker = makerOf(part);
    return maker !== null && account !== null && maker !== account;
  };
  const leftOut = signed.filter((part) => isKnown(part) || isForeign(part));
  return {
    signed,
    leftOut: new Set(leftOut),
    news: leftOut.filter((part) => !isKnown(part)),
    isOwn: (part) => account !== null && makerOf(part) === account,
  };
}

/** Follows a reply, and records at its end who signed its thinking, and what this key cannot use. */
export class OriginLog {
  readonly #provider: string;
  readonly #model: string;
  readonly #account: string | null;
  /** Thinking that this request omits, and that later requests with this key must omit. */
  readonly #omitted: readonly ThinkingPart[];
  readonly #sent: ReadonlyMap<string, ThinkingPart>;
  readonly #received: string[] = [];
  readonly #dropped: DroppedThinking[] = [];

  constructor({ provider, model, account, omitted, sent }: {
    readonly provider: string;
    readonly model: string;
    readonly account: string | null;
    readonly omitted: readonly ThinkingPart[];
    /** The thinking in the request, by the name under which the provider reports it. */
    readonly sent: ReadonlyMap<string, ThinkingPart>;
  }) {
    this.#provider = provider;
    this.#model = model;
    this.#account = account;
    this.#omitted = omitted;
    this.#sent = sent;
  }

  note(effect: Effect): void {
    if (effect.kind === "thinking" && effect.signature !== undefined && effect.signature.value !== "") {
      this.#received.push(thinkingKey({ content: "", signature: effect.signature, redacted: false }));
    } else if (effect.kind === "dropped") this.#dropped.push(...effect.dropped);
  }

  /** Records what the reply showed; returns notices for the user. */
  async finish(journal: Journal | undefined): Promise<readonly string[]> {
    const { unread, notes } = journal?.thinking ?? NO_THINKING;
    const dropped = this.#dropped.flatMap(({ name, why }) => {
      const part = this.#sent.get(name);
      return part === undefined ? [] : [{ part, why, key: thinkingKey(part) }];
    }).filter(({ key }) => !unread.has(key));
    const notices = droppedNotices(dropped, this.#model);
    const entries = [...this.#notes(notes), ...unreadEntry(dropped.map(({ key }) => key))];
    if (journal === undefined || entries.length === 0) return notices;
    try {
      await journal.recordThinking(entries);
      return notices;
    } catch (thrown) {
      const reported = `Cannot save who signed the thinking of this reply: ${thrownText(thrown)}.`;
      return [...notices, reported];
    }
  }

  #notes(known: ReadonlyMap<string, string>): readonly ThinkingEntry[] {
    const account = this.#account;
    const notes: (readonly [about: string, value: string])[] = [
      ...this.#omitted.map((part) => [omissionNote(thinkingKey(part), account), "omitted"] as const),
      ...(account === null ? [] : [
        [lastNote(this.#provider), account] as const,
        ...this.#received.map((key) => [makerNote(key), account] as const),
      ]),
    ];
    return notes.map(([about, value]) => ({ kind: "note" as const, key: quickHash(about), value }))
      .filter(({ key, value }) => known.get(key) !== value);
  }
}

function unreadEntry(keys: readonly string[]): readonly ThinkingEntry[] {
  return keys.length === 0 ? [] : [{ kind: "unread", keys }];
}

function makerNote(key: string): string {
  return `account of thinking ${key}`;
}

function omissionNote(key: string, account: string | null): string {
  return `thinking ${key} refused to ${account ?? "an unknown account"}`;
}

function lastNote(provider: string): string {
  return `last account of ${provider}`;
}
