// Tracks the signed thinking of one request and its reply: what is left out, what was received, and what to remember.

import { quickHashOf } from "../../../base/hash.ts";
import { thrownText } from "../../../base/problem.ts";
import { partsOf } from "../../../base/text/long_text.ts";
import type { DroppedThinking, Effect, Outline, ThinkingPart } from "../../../providers/types.ts";
import { NO_THINKING } from "../../storage/thinking_memory.ts";
import type { Journal, ThinkingEntry } from "../../types.ts";
import {
  type Digests,
  digestsOf,
  digestThinkingText,
  evaluateThinking,
  sentEntry,
  type ThinkingEvaluation,
  thinkingKey,
} from "./preserved.ts";
import { droppedNotices } from "./notices.ts";

/** The evaluation of earlier thinking before a request. */
export interface Preserved {
  readonly outline: Outline;
  readonly digests: Digests;
  readonly evaluation: ThinkingEvaluation;
}

/** Evaluates the thinking that a request could contain. Without a journal, nothing is known about earlier thinking. */
export function preserve(outline: Outline, journal: Journal | undefined): Preserved {
  const digests = digestsOf(outline);
  return {
    outline,
    digests,
    evaluation: evaluateThinking(outline, digests, journal?.thinking ?? NO_THINKING),
  };
}

/** A prefix that no text has. */
const FORGOTTEN = "another request";

/** Follows a reply, and records at its end what the next request has to know. */
export class ThinkingLog {
  /** These results exclude the outline, which would keep the texts of the conversation in memory. */
  readonly #preserved: Pick<Preserved, "digests" | "evaluation"> & Pick<Outline, "mismatch">;
  readonly #model: string;
  /** The thinking in the request, by the name under which the provider reports it. */
  readonly #sent: ReadonlyMap<string, ThinkingPart>;
  /** Digests of the received thinking, in order. */
  readonly #received: { readonly key: string; readonly text: string }[] = [];
  readonly #dropped: DroppedThinking[] = [];
  #isForgotten = false;
  #isAside = false;

  constructor(
    { digests, evaluation, outline }: Preserved,
    model: string,
    sent: ReadonlyMap<string, ThinkingPart>,
  ) {
    this.#preserved = { digests, evaluation, mismatch: outline.mismatch };
    this.#model = model;
    this.#sent = sent;
  }

  /** Makes later requests omit the received thinking, because the reply belongs to another text than this request. */
  forget(): void {
    this.#isForgotten = true;
  }

  /** Makes the next request of the document ignore this one, because neither it nor its reply is part of the document. */
  setAside(): void {
    this.#isAside = true;
  }

  note(effect: Effect): void {
    if (effect.kind === "thinking" && effect.signature !== undefined) {
      const { content, signature } = effect;
      const key = thinkingKey({ content: "", signature, redacted: false });
      this.#received.push({ key, text: quickHashOf(partsOf(content)) });
    } else if (effect.kind === "redacted") {
      const part = { content: effect.data, redacted: true };
      this.#received.push({ key: thinkingKey(part), text: digestThinkingText(part) });
    } else if (effect.kind === "dropped") this.#dropped.push(...effect.dropped);
  }

  /** Records what the reply showed; returns notices for the user. */
  async finish(journal: Journal | undefined): Promise<readonly string[]> {
    const { unread } = journal?.thinking ?? NO_THINKING;
    const known = this.#dropped.flatMap(({ name, why }) => {
      const part = this.#sent.get(name);
      return part === undefined ? [] : [{ part, why, key: thinkingKey(part) }];
    });
    const reported = new Set(this.#preserved.evaluation.unread.map(({ key }) => key));
    const news = known.filter(({ key }) => !unread.has(key) && !reported.has(key));
    const notices = droppedNotices(news, this.#model);
    if (journal === undefined) return notices;
    try {
      await journal.recordThinking(this.#entries(journal, news));
      return notices;
    } catch (thrown) {
      const reported =
        "A later change of earlier text may lose thinking without a warning, because flemma cannot save " +
        `hashes of that text: ${thrownText(thrown)}.`;
      return [...notices, reported];
    }
  }

  #entries(
    journal: Journal,
    dropped: readonly { readonly why: DroppedThinking["why"]; readonly key: string }[],
  ): readonly ThinkingEntry[] {
    const { digests, evaluation, mismatch } = this.#preserved;
    const keysOf = (isMeant: (why: DroppedThinking["why"]) => boolean) =>
      dropped.filter(({ why }) => isMeant(why)).map(({ key }) => key);
    const stale = [...evaluation.stale, ...this.#droppedKeys(), ...keysOf((why) => why === "prefix")];
    const unread = [...evaluation.unread.map(({ key }) => key), ...keysOf((why) => why !== "prefix")];
    const sent = sentEntry(digests.pieces, journal.thinking.sent);
    const records: ThinkingEntry[] = [];
    let before = this.#lastSent(new Set(stale));
    for (const { key, text } of this.#received) {
      records.push({
        kind: "thinking",
        key,
        text,
        prefix: mismatch === null ? null : this.#isForgotten ? FORGOTTEN : digests.prefixes.at(-1)!,
        before,
        model: this.#model,
      });
      before = key;
    }
    return [
      ...(stale.length === 0 ? [] : [{ kind: "stale" as const, keys: stale }]),
      ...(unread.length === 0 ? [] : [{ kind: "unread" as const, keys: unread }]),
      ...(this.#isAside ? [] : [...(sent === null ? [] : [sent]), ...records]),
    ];
  }

  /**
   * Keys of further thinking that is not in the request, such as after a fallback. Such thinking stays out permanently
   * as well.
   */
  #droppedKeys(): readonly string[] {
    const { digests, evaluation } = this.#preserved;
    const sent = new Set(this.#sent.values());
    return digests.thinking.filter(({ part }) => !sent.has(part) && !evaluation.leftOut.has(part))
      .map(({ key }) => key);
  }

  /** Returns the last thinking that was sent and that the provider accepted. */
  #lastSent(stale: ReadonlySet<string>): string | null {
    const { digests, evaluation } = this.#preserved;
    return digests.thinking.findLast(({ part, key }) => !evaluation.leftOut.has(part) && !stale.has(key))
      ?.key ?? null;
  }
}
