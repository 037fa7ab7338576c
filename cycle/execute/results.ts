// Writes the blocks of ended calls into the document. Blocks that arrive during a write are written together.

import type { FinalBlock } from "../../parser/edits/result_block.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { writeResult } from "../../parser/edits/placement.ts";
import { failed, type Outcome, type Problem, success } from "../../base/problem.ts";
import { pause } from "../../base/system/timer.ts";
import type { Chat } from "../../parser/types.ts";
import type { Writer } from "./writer.ts";

export interface EndedCall {
  readonly id: string;
  readonly block: FinalBlock;
  /** Block content written when the user stopped the call; null if none was written. */
  written(): string | null;
}

interface Waiting extends EndedCall {
  /** Called when the block is in the document, or with the reason why it is not. */
  readonly done: (problem: Problem | null) => void;
}

export interface ResultsParts {
  readonly writer: Writer;
  /** True if more calls may end soon; their blocks are then written together. */
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

  /** Writes a block into the document; null once it is on disk, or the problem that prevented it. */
  put(ended: EndedCall): Promise<Problem | null> {
    return new Promise((done, fault) => {
      this.#waiting.push({ ...ended, done });
      this.#writing ??= this.#write().finally(() => this.#writing = null);
      this.#writing.catch(fault);
    });
  }

  /** Waits until every queued block is in the document, or is known not to be. */
  async written(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  /**
   * Writes until nothing waits. While calls keep ending, writes take at most half of the time. Otherwise, with
   * thousands of calls, writes would take nearly all of it, because each costs more the longer the document is.
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
        // The position of a new block depends on the other blocks.
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

/** Returns the edits for one result. If the block contains other text, that text is saved first. */
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
  // The text written when the run was stopped is already complete.
  if (body === written && body === block.content) return success([]);
  if (body !== "" && body !== block.content && body !== written) {
    const kept = await writer.keepBody(id, body, `The result replaced the text in the block of ${id}`);
    if (kept !== null) return failed(kept);
  }
  return success(writeResult(chat, call, block));
}

function goneProblem(id: string): Problem {
  return {
    code: "call-gone",
    message: `The call ${id} disappeared from the document while it was running.`,
    next: "Restore the call, or run it again.",
  };
}
