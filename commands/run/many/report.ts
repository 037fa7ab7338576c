// Reports on several documents: prints a line as each one ends, and a summary.

import type { Stop, UsageRecord } from "../../../cycle/types.ts";
import { totalOf } from "../../../cycle/usage/record.ts";
import type { Among } from "../output.ts";
import type { Invocation } from "../../invocation.ts";
import { formatCount, usageWords } from "../../io/amounts.ts";
import { Exit } from "../../io/exit.ts";
import { type MessageLevel, Messages } from "../../io/messages.ts";
import { switchOption } from "../../line/options.ts";

interface Running {
  /** Messages about how the document's run ended, or why it did not start. */
  readonly lines: { readonly level: MessageLevel; readonly text: string }[];
  stop: Stop | null;
}

/** Outcomes of the runs on several documents, in the order of the summary. */
const OUTCOMES = ["complete", "idle", "waiting", "blocked", "busy", "failed", "interrupted"] as const;
type Outcome = typeof OUTCOMES[number];

export class BatchReport {
  readonly #invocation: Invocation;
  readonly #total: number;
  readonly #running = new Map<string, Running>();
  readonly #records: UsageRecord[] = [];
  readonly #outcomes = new Map<Outcome, number>();
  /** Messages that were already shown for another document. */
  readonly #reported = new Set<string>();
  #done = 0;
  #over = false;

  constructor(invocation: Invocation, total: number) {
    this.#invocation = invocation;
    this.#total = total;
  }

  /** Begins the report on a document. The returned functions receive the messages and the end of the document's run. */
  begin(file: string): { readonly messages: Messages; readonly among: Pick<Among, "ended" | "waits"> } {
    const { environment, arguments: given } = this.#invocation;
    const running: Running = { lines: [], stop: null };
    this.#running.set(file, running);
    const quiet = switchOption(given, "quiet") === true;
    const messages = new Messages(environment, { filter: false, quiet, place: "failure" });
    messages.onLine = (level, text) => {
      // Notes before the end are shown immediately. The last messages appear with the document's name.
      if (running.stop === null && level === "note") this.#news(file, text);
      else running.lines.push({ level, text });
    };
    const ended: Among["ended"] = (stop, records) => {
      running.stop = stop;
      this.#records.push(...records);
    };
    return { messages, among: { ended, waits: (sentence) => this.#note(file, sentence) } };
  }

  ended(file: string, exit: number): void {
    const { lines = [], stop = null } = this.#running.get(file) ?? {};
    this.#running.delete(file);
    this.#done++;
    const outcome = outcomeOf(exit, stop);
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
    const { messages } = this.#invocation;
    const head = `[${this.#done}/${this.#total}] ${file}: `;
    if (outcome === "complete" || outcome === "idle") {
      messages.note(`${head}${outcome === "complete" ? "complete" : "nothing to do"}`);
      return;
    }
    const words = lines.map(({ text }) => text.replace(/^flemma: /, "")).join("\n  ");
    const line = `${head}${words === "" ? outcome : words}`;
    if (exit === Exit.ok) messages.note(line);
    else messages.say(line);
  }

  /** Reports the summary; a second call does nothing. */
  end({ interrupted }: { readonly interrupted: boolean }): void {
    if (this.#over) return;
    this.#over = true;
    const parts = OUTCOMES.flatMap((outcome) => {
      const count = this.#outcomes.get(outcome) ?? 0;
      return count === 0 ? [] : [`${formatCount(count)} ${WORDS[outcome]}`];
    });
    const left = this.#total - this.#done;
    if (interrupted && left > 0) parts.push(`${formatCount(left)} not finished`);
    const total = totalOf(this.#records);
    const used = total.requests === 0
      ? ""
      : `; ${formatCount(total.requests)} ${total.requests === 1 ? "request" : "requests"}, ${
        usageWords(total)
      }`;
    const documents = `${formatCount(this.#total)} ${this.#total === 1 ? "document" : "documents"}`;
    this.#invocation.messages.note(`${documents}: ${parts.join(", ")}${used}.`);
  }

  #news(file: string, text: string): void {
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#note(file, text.replace(/^flemma: /, ""));
  }

  #note(file: string, text: string): void {
    this.#invocation.messages.note(`flemma: ${file}: ${text}`);
  }
}

const WORDS: Readonly<Record<Outcome, string>> = {
  complete: "complete",
  idle: "with nothing to do",
  waiting: "waiting for you",
  blocked: "with errors to correct",
  busy: "in use or changed elsewhere",
  failed: "failed",
  interrupted: "interrupted",
};

function outcomeOf(exit: number, stop: Stop | null): Outcome {
  switch (exit) {
    case Exit.ok:
      return stop?.reason === "done" || stop?.reason === "cut" ? "complete" : "idle";
    case Exit.person:
      return "waiting";
    case Exit.diagnostics:
      return "blocked";
    case Exit.conflict:
      return "busy";
    case Exit.interrupted:
      return "interrupted";
    default:
      return "failed";
  }
}
