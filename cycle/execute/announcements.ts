// Emits no event twice: neither an event about a call, nor one that asks the host to move the cursor.

import type { Call, Chat } from "../../parser/types.ts";
import type { Step } from "../plan/types.ts";
import { firstLine } from "../plan/open_calls.ts";
import type { DocumentStore, Emit } from "../types.ts";

export class Announcements {
  readonly #store: DocumentStore;
  readonly #preview: (call: Call) => string;
  readonly #diff: (call: Call) => string | null;
  readonly #emit: Emit;
  /** Ids of calls already announced as pending. */
  readonly #announced = new Set<string>();
  #cursor: number | null = null;

  constructor(
    store: DocumentStore,
    { preview, diff = () => null, emit }: {
      readonly preview: (call: Call) => string;
      readonly diff?: (call: Call) => string | null;
      readonly emit: Emit;
    },
  ) {
    this.#store = store;
    this.#preview = preview;
    this.#diff = diff;
    this.#emit = emit;
  }

  get #chat(): Chat {
    return this.#store.chat;
  }

  /** Allows every announcement again, because the user started a step and wants to see the announcements. */
  startOver(): void {
    this.#announced.clear();
    this.#cursor = null;
  }

  /** Announces completed parts of a plan, and asks the host to move the cursor to the first new pending block. */
  steps(steps: readonly Step[]): void {
    for (const step of steps) this.#step(step);
    this.cursorTo(steps.flatMap((step) => step.do === "place" && step.status === "pending" ? [step.id] : []));
  }

  /** Announces calls that wait for the user, and asks the host to move the cursor to the first of them. */
  waiting(ids: readonly string[]): void {
    for (const id of ids) this.#announce(id, "document");
    this.cursorTo(ids);
  }

  /** Asks the host to move the cursor to the first block of these calls. */
  cursorTo(ids: readonly string[]): void {
    const line = firstLine(this.#chat, ids);
    if (line !== null) this.cursor(line);
  }

  /** Asks the host to move the cursor to a line; not repeated while the line stays the same. */
  cursor(line: number): void {
    if (line === this.#cursor) return;
    this.#cursor = line;
    this.#emit({ event: "cursor", line });
  }

  notice(code: string, message: string, id?: string): void {
    this.#emit({ event: "notice", code, message, ...(id === undefined ? {} : { id }) });
  }

  #step(step: Step): void {
    if (step.do === "notice") {
      this.notice(step.code, step.message, step.id);
    } else if (step.do === "resolve" && step.decided !== undefined) {
      const call = this.#chat.call(step.id);
      const reported = call === undefined
        ? { name: "", preview: "" }
        : { name: call.name, preview: this.#preview(call) };
      this.#emit({ event: "approval:denied", id: step.id, ...reported, source: step.decided.source });
    } else if (step.do === "place" && step.status === "pending") {
      this.#announce(step.id, step.decided.source);
    } else if (step.do === "demote") {
      this.#announce(step.id, step.source);
    }
  }

  #announce(id: string, source: string): void {
    const call = this.#chat.call(id);
    const line = firstLine(this.#chat, [id]);
    if (call === undefined || line === null || this.#announced.has(id)) return;
    this.#announced.add(id);
    const preview = this.#preview(call);
    const diff = this.#diff(call);
    const reported = { event: "approval:pending", id, name: call.name, preview, line, source } as const;
    this.#emit(diff === null ? reported : { ...reported, diff });
  }
}
