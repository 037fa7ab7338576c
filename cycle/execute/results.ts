// Puts the blocks of calls that ended into the document; those that come while it is written go in together.

import type { FinalBlock } from "../../parser/edits/result_block.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { writeResult } from "../../parser/edits/placement.ts";
import { failed, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { Chat } from "../../parser/types.ts";
import type { Writer } from "./writer.ts";

/** The end of one call. */
export interface EndedCall {
  readonly id: string;
  readonly block: FinalBlock;
  /** What the block holds that was written when the person stopped the call; null while there is none. */
  written(): string | null;
}

interface Waiting extends EndedCall {
  /** Told when the block is in the document, or why it is not. */
  readonly done: (problem: Problem | null) => void;
}

export interface ResultsParts {
  readonly writer: Writer;
  /** Whether more calls may end soon, which would then go in together. */
  mayStart(): boolean;
}

/** One queue for all results of a run. */
export class Results {
  readonly #parts: ResultsParts;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;

  constructor(parts: ResultsParts) {
    this.#parts = parts;
  }

  /** Puts a block into the document; null once it is on disk, or why it could not be put there. */
  put(ended: EndedCall): Promise<Problem | null> {
    return new Promise((done, fault) => {
      this.#waiting.push({ ...ended, done });
      this.#writing ??= this.#write().finally(() => this.#writing = null);
      this.#writing.catch(fault);
    });
  }

  /** Waits until every block that was put is in the document, or is known not to be. */
  async written(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  /**
   * Writes until nothing waits. The document is written half of the time at most while calls go on ending: what one write
   * costs grows with the document, and thousands of calls would spend all their time on it.
   */
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const began = performance.now();
      await this.#commit(this.#waiting.splice(0));
      const took = performance.now() - began;
      if (this.#waiting.length > 0 && this.#parts.mayStart()) await pause(took);
    }
  }

  async #commit(all: readonly Waiting[]): Promise<void> {
    const { writer } = this.#parts;
    const refused = new Map<Waiting, Problem>();
    const later = new Set<Waiting>();
    const problem = await writer.commit(async (chat) => {
      const edits: Edit[] = [];
      for (const one of all) {
        // Where a block goes that is not there yet depends on the others.
        if (edits.length > 0 && chat.result(one.id) === undefined) {
          later.add(one);
          continue;
        }
        const made = await editsFor(one, chat, writer);
        if (made.ok) edits.push(...made.value);
        else refused.set(one, made.problem);
      }
      return success(edits);
    });
    this.#waiting.unshift(...later);
    for (const one of all) if (!later.has(one)) one.done(refused.get(one) ?? problem);
  }
}

/** The change that one result is; a text in its block is kept aside before. */
async function editsFor(
  ended: EndedCall,
  chat: Chat,
  writer: Writer,
): Promise<Outcome<readonly Edit[]>> {
  const { id, block } = ended;
  const call = chat.call(id);
  if (call === undefined) return failed(goneProblem(id));
  const written = ended.written();
  const body = chat.result(id)?.content ?? "";
  // What was written when the run was stopped is all there was.
  if (body === written && body === block.content) return success([]);
  if (body !== "" && body !== block.content && body !== written) {
    const kept = await writer.keepBody(id, body, `The text in the block of ${id} gave way to the result`);
    if (kept !== null) return failed(kept);
  }
  return success(writeResult(chat, call, block));
}

function goneProblem(id: string): Problem {
  return {
    code: "call-gone",
    message: `The call ${id} left the document while it was running.`,
    next: "Put the call back, or start it anew.",
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
