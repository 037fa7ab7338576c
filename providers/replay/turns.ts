// Which reply of a script a request gets: the next one for its document, or the first that fits.

import { isObject } from "../../base/is_object.ts";
import { findUnmet, type RequestView } from "./expect.ts";
import type { ReplayScript, ScriptedReply } from "./script.ts";

/** The tool with which a model asks helpers. */
const ASK_TOOL = "ask_document";

/** A helper that a reply of the script asked. */
interface AskedHelper {
  readonly name: string;
  readonly question: string;
}

/** Gives out the replies of a script. */
export class ScriptTurns {
  readonly #script: ReplayScript;
  /** True if the script tells helpers apart. */
  readonly #namesHelpers: boolean;
  readonly #asked: AskedHelper[] = [];
  /** Numbers of replies that were given, by document; null for the one that no reply names. */
  readonly #byDocument = new Map<string | null, number>();
  /** Number of replies that were given. */
  given = 0;

  constructor(script: ReplayScript) {
    this.#script = script;
    this.#namesHelpers = script.replies.some(({ document }) => document !== undefined);
  }

  /**
   * If the request meets the expectations of the next reply for its document, returns this reply; otherwise returns why
   * it does not.
   */
  take(view: RequestView): ScriptedReply | string {
    const document = this.#documentOf(view);
    const replies = this.#namesHelpers
      ? this.#script.replies.filter((reply) => (reply.document ?? null) === document)
      : this.#script.replies;
    const at = this.#byDocument.get(document) ?? 0;
    const scripted = this.#script.order === "any"
      ? replies.find(({ expect = {} }) => findUnmet(expect, view).length === 0)
      : replies[at];
    if (scripted === undefined) return this.#nothingLeft(replies, document);
    const missing = findUnmet(scripted.expect ?? {}, view);
    if (missing.length > 0) {
      return `replay: reply ${this.#script.replies.indexOf(scripted) + 1} was not sent because ${
        missing.join("; ")
      }`;
    }
    this.#byDocument.set(document, at + 1);
    this.given++;
    this.#asked.push(...helpersAskedBy(scripted));
    return scripted;
  }

  #nothingLeft(replies: readonly ScriptedReply[], document: string | null): string {
    if (this.#script.order === "any") return "replay: no reply of the script is for this request";
    const whose = document === null ? "the script" : `the document ${document}`;
    return `replay: ${whose} has only ${replies.length} replies, so none is left for this request`;
  }

  /** Returns the helper to which a request belongs; null if its first message is not a question of the script. */
  #documentOf({ first }: RequestView): string | null {
    if (!this.#namesHelpers) return null;
    return this.#asked.find(({ question }) => first.trimStart().startsWith(question))?.name ?? null;
  }
}

/** Returns the new helpers that a reply asks by name. */
function helpersAskedBy({ reply = [] }: ScriptedReply): readonly AskedHelper[] {
  return reply.flatMap((block) => {
    const input = "tool_use" in block && block.tool_use.name === ASK_TOOL ? block.tool_use.input : null;
    if (!isObject(input) || typeof input.name !== "string" || typeof input.question !== "string") return [];
    const question = input.question.trim();
    return question === "" ? [] : [{ name: input.name, question }];
  });
}
