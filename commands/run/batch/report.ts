// What a person reads about batches: a line per document or batch.

import type { LeftOut } from "../../../batch/collect.ts";
import type { FetchEvent } from "../../../batch/fetch.ts";
import { openItems } from "../../../batch/journal.ts";
import type { RunResult } from "../../../agent/types.ts";
import type { BatchResult } from "../../../batch/library.ts";
import type { DeliveredResult } from "../../../batch/deliver.ts";
import { problemLine } from "../../../base/problem.ts";
import { plural } from "../../../base/text/plural.ts";
import type { CycleEvent, Emit } from "../../../cycle/types.ts";
import { operands } from "../../../base/shell_word.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit, worstExit } from "../../io/exit.ts";
import { diagnosticLine } from "../../io/diagnostics.ts";
import { safeJson } from "../../io/safe_json.ts";
import { writeOutput } from "../../io/streams.ts";

/** Prints what happens, and collects the exit code. */
export class BatchLines {
  readonly #invocation: Invocation;
  #exits: number[] = [];
  /** Notices that were already shown for another document. */
  readonly #noticed = new Set<string>();
  readonly #finishesLive: boolean;
  #written = 0;

  /** @param options `finishesLive: true` if calls that have not run are carried out afterwards */
  constructor(invocation: Invocation, { finishesLive = false } = {}) {
    this.#invocation = invocation;
    this.#finishesLive = finishesLive;
  }

  /** Forgets what was said about batches, which the next look at the providers says again. */
  begin(): void {
    this.#exits = [];
  }

  /** The worst exit code since the last look at the providers. */
  get exit(): number {
    return worstExit(this.#exits);
  }

  get written(): number {
    return this.#written;
  }

  /** Returns the receiver of the events of a document. */
  hear = (name: string): Emit => (event: CycleEvent) => {
    const { messages } = this.#invocation;
    if (event.event === "notice" && !this.#noticed.has(event.message)) {
      this.#noticed.add(event.message);
      messages.note(`${name}: ${event.message}`);
    }
    if (event.event === "diagnostic" && event.diagnostic.severity === "error") {
      messages.say(diagnosticLine(name, event.diagnostic));
    }
  };

  leftOut({ name, why, kind }: LeftOut): void {
    const { messages } = this.#invocation;
    const line = `${name}: not sent. ${why}`;
    if (kind === "nothing") messages.note(line);
    else messages.say(line);
    this.#exits.push(kind === "failed" ? Exit.failure : kind === "person" ? Exit.person : Exit.ok);
  }

  tell = (event: FetchEvent): void => {
    const { messages } = this.#invocation;
    switch (event.kind) {
      case "sent":
        return messages.note(
          `Batch ${event.head.id}: ${
            plural(event.items.length, "document")
          } sent to ${event.head.provider} ` +
            `(${event.head.model}).`,
        );
      case "unclear":
        this.#exits.push(Exit.person);
        return messages.say(
          `Batch ${event.head.id}: ${
            problemLine(event.problem)
          } Whether the provider took it is not known, so its ` +
            "documents wait. flemma batch fetch finds that out, and sends nothing twice.",
        );
      case "refused":
        this.#exits.push(Exit.failure);
        return messages.say(
          `Batch ${event.head.id} was refused, and its documents are free again: ${
            problemLine(event.problem)
          }`,
        );
      case "dropped":
        this.#exits.push(Exit.failure);
        return messages.say(`${event.name}: ${problemLine(event.problem)}`);
      case "stuck":
        this.#exits.push(Exit.person);
        return messages.say(
          `${event.name}: its placeholder could not be removed: ${problemLine(event.problem)}`,
        );
      case "working": {
        this.#exits.push(Exit.person);
        const { record: { head }, done } = event;
        const part = done === null || done === 0 ? "" : `, ${done} done`;
        return messages.note(
          `Batch ${head.id}: ${plural(openItems(event.record).length, "document")} out${part}.`,
        );
      }
      case "undecided":
        this.#exits.push(Exit.person);
        return messages.say(
          `Batch ${event.record.head.id}: it is not known yet whether ${event.record.head.provider} took it. Fetch again ` +
            `later, name it (flemma batch adopt ${event.record.head.id} NAME), or free its documents: ` +
            `flemma batch cancel ${event.record.head.id}`,
        );
      case "gone":
        this.#exits.push(Exit.failure);
        return messages.say(
          `Batch ${event.record.head.id} brought nothing, and its documents are free again: ${event.why}.`,
        );
      case "failed":
        this.#exits.push(Exit.failure);
        return messages.say(`Batch ${event.record.head.id}: ${problemLine(event.problem)}`);
      case "busy":
        this.#exits.push(Exit.person);
        return messages.note(`Batch ${event.record.head.id}: another run works on it.`);
      case "missing":
        this.#exits.push(Exit.person);
        return messages.say(
          `${event.item.name}: not at ${event.item.path} any more. Name it where it is now: flemma batch fetch FILE. Or give it ` +
            `up and keep its reply: flemma batch cancel ${event.batch}`,
        );
      case "elsewhere":
        this.#exits.push(Exit.person);
        return messages.say(
          event.kept === null
            ? `${event.name}: the reply of this request went to ${event.path}. Delete the placeholder to send this copy.`
            : `${event.name}: the reply of this request is kept: flemma recover ${event.kept}`,
        );
      case "damaged":
        this.#exits.push(Exit.failure);
        return messages.say(damagedLine(event.path));
      case "delivered":
        return this.#delivered(event.name, event.delivery);
    }
  };

  #delivered(name: string, delivery: DeliveredResult): void {
    const { messages } = this.#invocation;
    switch (delivery.kind) {
      case "known":
        return;
      case "written":
        this.#written++;
        if (delivery.next !== null) return messages.note(`${name}: reply written; its calls ran.`);
        if (delivery.stop.reason === "cut") return messages.say(cutLine(name, delivery.stop));
        if (delivery.left === "nothing" || (delivery.left === "calls" && this.#finishesLive)) {
          return messages.note(`${name}: reply written.`);
        }
        this.#exits.push(Exit.person);
        return messages.say(`${name}: reply written. ${waiting(name, delivery)}`);
      case "kept":
        this.#exits.push(Exit.person);
        return messages.say(
          `${name}: the document ${
            delivery.isMissing ? "is missing" : "was changed"
          }, so its reply is kept: flemma recover ${delivery.id}`,
        );
      case "freed": {
        if (delivery.next !== null) return messages.note(`${name}: ${delivery.why}`);
        this.#exits.push(Exit.person);
        return messages.say(
          problemLine({
            message: `${name}: no reply. ${delivery.why}`,
            next: `Send again: flemma batch send ${operands(name)}`,
          }),
        );
      }
      case "later":
        this.#exits.push(Exit.person);
        return messages.say(`${name}: ${problemLine(delivery.problem)} Its reply waits for the next fetch.`);
    }
  }
}

function cutLine(name: string, { problem }: RunResult): string {
  const words = problem === undefined
    ? `Continue it: flemma advance --continue ${operands(name)}`
    : problemLine(problem);
  return `${name}: reply written, but it was cut off. ${words}`;
}

/** Prints what became of documents and batches, as JSON. */
export function writeBatchResult({ documents, problems, out }: BatchResult): void {
  const report: BatchResult = {
    documents,
    problems: problems.map(({ code, message, next }) => ({ code, message, next })),
    out,
  };
  writeOutput(`${safeJson(report)}\n`);
}

/** Returns the sentence about a journal that cannot be read. */
export function damagedLine(path: string): string {
  return `The journal ${path} is damaged, so the documents of its batch wait in vain. Restore this file, or delete it and ` +
    "the placeholders.";
}

function waiting(
  name: string,
  { left, stop: { reason, ids, problem } }: Extract<DeliveredResult, { kind: "written" }>,
): string {
  if (left === "calls") return `Its calls did not run: flemma advance ${operands(name)}`;
  if (reason === "pending") {
    return `${plural(ids.length, "call")} ${ids.length === 1 ? "waits" : "wait"} for you: flemma review ${
      operands(name)
    }`;
  }
  return problem === undefined
    ? `It needs you (${reason}): flemma status ${operands(name)}`
    : problemLine(problem);
}
