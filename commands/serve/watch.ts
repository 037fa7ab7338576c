// `flemma watch`: advances each document separately whenever it is saved, until Ctrl-C.

import { nextNeed } from "../../agent/views/next_need.ts";
import { JobKeeper } from "../../agent/runtime/jobs/keeper.ts";
import type { ChatOptions } from "../../agent/types.ts";
import { absolutePath, callerOf, normalPath } from "../../base/paths.ts";
import { type Problem, problemLine, thrownText } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { visible } from "../../base/visible.ts";
import { waitSentence } from "../../cycle/run/waits.ts";
import type { CycleEvent, Stop } from "../../cycle/types.ts";
import { stopWords } from "../../editors/stop_words.ts";
import { RequestLimiter } from "../../providers/http/limiter.ts";
import { hostOptions } from "../document/host.ts";
import type { Invocation } from "../invocation.ts";
import { compactedSentence } from "../io/amounts.ts";
import { Exit } from "../io/exit.ts";
import { Interrupts } from "../io/interrupt.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";
import { numberOption, switchOption } from "../line/options.ts";
import { SETTLED, watchSaves } from "./saves.ts";
import { Slots } from "./slots.ts";
import { type IdleDocument, isSaved, knownAfter, knownAtStart, readFileState } from "./watched.ts";

/**
 * Longest wait, in seconds. Another run may lock the document for hours; the saved text waits for the end of that run.
 */
const LONGEST_WAIT = 7 * 24 * 60 * 60;

/** Documents that run in parallel unless `--jobs` says otherwise. */
const USUAL_JOBS = 4;

export async function run(invocation: Invocation): Promise<number> {
  const { environment, messages, arguments: { positionals } } = invocation;
  const host = hostOptions(invocation);
  if (!host.ok) return refuse(invocation, host.problem);
  // A file that is named twice is watched once, under its first name.
  const files = new Map(
    positionals.toReversed().map((label) => [normalPath(absolutePath(environment, label)), label]),
  );
  // A pattern such as **/*.chat also matches helpers. Their callers advance them.
  const helpers = [...files.keys()].filter((path) => callerOf(path) !== null);
  if (helpers.length < files.size) { for (const path of helpers) files.delete(path); }
  for (const [path, label] of files) {
    const problem = label === "-" ? NO_PIPE : inTheWay(path, label);
    if (problem !== null) return refuse(invocation, problem);
  }
  const jobs = numberOption(invocation.arguments, "jobs") ?? USUAL_JOBS;
  if (jobs < 1) return refuse(invocation, { code: "usage", message: "--jobs needs a number of 1 or more." });
  const slots = new Slots(jobs);
  const interrupts = new Interrupts((fault, exit) => {
    if (fault !== null) messages.say(`flemma: Internal error: ${fault}`);
    messages.close(exit);
    return exit;
  });
  try {
    const shared = { ...host.value, limiter: new RequestLimiter() };
    const watched = [...files].map(([path, label]) =>
      new Watched({ invocation, path, label, host: shared, slots, signal: interrupts.signal })
    );
    for (const each of watched) await each.begin();
    messages.note(
      `flemma: Watching ${
        [...files.values()].map((label) => visible(label)).join(", ")
      }. Save to advance; press Ctrl-C to stop.`,
    );
    const cut = await Promise.all(watched.map((each) => each.untilEnd()));
    return cut.includes(true) ? Exit.interrupted : Exit.ok;
  } finally {
    interrupts.dispose();
  }
}

const NO_PIPE: Problem = {
  code: "usage",
  message: "Standard input cannot be watched.",
  next: "Name the files.",
};

/** Next step if a file cannot be watched. */
const CHECK = "Check the path, or name another document.";

/** Returns why a file cannot be watched; null if it can be. */
function inTheWay(path: string, label: string): Problem | null {
  try {
    if (Deno.statSync(path).isFile) return null;
    return { code: "document-unreadable", message: `${visible(label)} is not a regular file.`, next: CHECK };
  } catch (thrown) {
    return thrown instanceof Deno.errors.NotFound
      ? {
        code: "document-missing",
        message: `There is no file ${visible(label)}.`,
        next: `Create it: flemma new ${operands(label)}`,
      }
      : {
        code: "document-unreadable",
        message: `${visible(label)} cannot be read: ${thrownText(thrown)}.`,
        next: CHECK,
      };
  }
}

interface WatchedOptions {
  readonly invocation: Invocation;
  readonly path: string;
  /** Name of the document, as the person named it. */
  readonly label: string;
  readonly host: ChatOptions;
  /** Limits the documents that run at the same time. */
  readonly slots: Slots;
  readonly signal: AbortSignal;
}

class Watched {
  readonly #options: WatchedOptions;
  readonly #teller: Teller;
  readonly #jobKeeper = new JobKeeper({ ends: "when flemma watch ends", stopped: "with flemma watch" });
  #known: IdleDocument = { fileState: null, startsAgain: false };
  #work: Promise<void> | null = null;
  /** True if the file was saved during a run. */
  #again = false;
  /** True if Ctrl-C interrupted a run. */
  #cut = false;

  constructor(options: WatchedOptions) {
    this.#options = options;
    this.#teller = new Teller(options);
  }

  /** Records the current state of the file. From now on, only a later save starts a run. */
  async begin(): Promise<void> {
    this.#known = knownAtStart(await readFileState(this.#options.path));
  }

  /** Settles when watching ends; returns whether this interrupted a run. */
  async untilEnd(): Promise<boolean> {
    const { path, signal } = this.#options;
    await watchSaves({ path, signal, onSave: () => this.#saved() });
    await this.#work;
    await this.#endJobs();
    return this.#cut;
  }

  async #endJobs(): Promise<void> {
    const { label, host } = this.#options;
    await this.#jobKeeper.end(async () => {
      const { openChat } = await import("../../agent/open.ts");
      return await openChat(label, { ...host, notify: ({ message }) => this.#teller.note(message) });
    });
  }

  /** Checks the saved file. Checks run one at a time; a save during a check starts another check afterwards. */
  #saved(): void {
    if (this.#work !== null) {
      this.#again = true;
      return;
    }
    this.#work = this.#check().finally(() => {
      this.#work = null;
      if (this.#again && !this.#options.signal.aborted) {
        this.#again = false;
        this.#saved();
      }
    });
  }

  async #check(): Promise<void> {
    const now = await readFileState(this.#options.path);
    if (now === null && this.#known.fileState !== null) {
      this.#teller.note("was removed. flemma still watches for it.");
    }
    if (isSaved(this.#known, now)) await this.#advance();
    else if (now?.text.length !== 0) this.#known = { ...this.#known, fileState: now };
  }

  /** Runs until nothing is left to send. A question that is typed during a reply is sent next. */
  async #advance(): Promise<void> {
    const { path, signal } = this.#options;
    for (let goesOn = true; goesOn && !signal.aborted;) {
      const ran = await this.#options.slots.during(() => this.#once());
      const now = await readFileState(path);
      if ("code" in ran) {
        this.#known = { fileState: now, startsAgain: true };
        if (!signal.aborted) this.#teller.problem(ran);
        return;
      }
      const { stop, ours, hasQuestion } = ran;
      this.#known = knownAfter({ ours, now, reason: stop.reason });
      this.#teller.stopped(stop);
      goesOn = stop.reason === "done" && hasQuestion && this.#known.fileState === now;
      // Text that was saved meanwhile may still be incomplete.
      if (this.#known.fileState !== now) setTimeout(() => this.#saved(), SETTLED);
    }
  }

  /** Runs the document once. Returns the stop and the resulting text, or the problem if the run could not start. */
  async #once(): Promise<Ran | Problem> {
    const { label, host, signal } = this.#options;
    if (signal.aborted) return { code: "cancelled", message: "The run was stopped." };
    const { openChat } = await import("../../agent/open.ts");
    this.#teller.event({ event: "watch:saved" });
    const opened = await openChat(label, {
      ...host,
      signal,
      compacts: true,
      jobKeeper: this.#jobKeeper,
      wait: LONGEST_WAIT,
      emit: (event) => this.#teller.cycle(event),
      notify: ({ message }) => this.#teller.note(message),
    });
    if (!opened.ok) return opened.problem;
    await using session = opened.value;
    const stop = await session.advance();
    this.#cut ||= signal.aborted;
    return { stop, ours: session.chat.bytes, hasQuestion: nextNeed(session.chat).kind === "advance" };
  }
}

interface Ran {
  readonly stop: Stop;
  readonly ours: Uint8Array;
  /** True if the text contains a message by the person that was not sent. */
  readonly hasQuestion: boolean;
}

/** Reports the events of one document: lines for a person, or lines of JSON. */
class Teller {
  readonly #invocation: Invocation;
  readonly #label: string;

  constructor({ invocation, label }: WatchedOptions) {
    this.#invocation = invocation;
    this.#label = label;
  }

  /** Prints a line of JSON, with `--json`. */
  event(event: Readonly<Record<string, unknown>>): void {
    if (switchOption(this.#invocation.arguments, "json") !== true) return;
    writeOutput(`${safeJson({ document: this.#label, ...event })}\n`);
  }

  note(text: string): void {
    this.#invocation.messages.note(`${visible(this.#label)}: ${visible(text)}`);
  }

  problem(problem: Problem): void {
    this.#invocation.messages.say(`flemma: ${visible(this.#label)}: ${visible(problemLine(problem))}`);
    this.event({ event: "stopped", reason: "failed", ids: [], line: null, problem });
  }

  cycle(event: CycleEvent): void {
    this.event({ ...event });
    const words = wordsOf(event);
    if (words !== null) this.note(words);
  }

  stopped({ reason, ids, line, problem }: Stop): void {
    this.event({ event: "stopped", reason, ids, line, problem });
    const words = stopWords({ reason, ids, line, problem } as Stop);
    const text = words?.text ?? (reason === "done" ? "The reply is complete." : null);
    if (text === null) return;
    if (words?.level === "error" || ids.length > 0) {
      this.#invocation.messages.say(`${visible(this.#label)}: ${visible(text)}`);
    } else this.note(text);
  }
}

/** Returns the line that a person sees for an event; null if none. */
function wordsOf(event: CycleEvent): string | null {
  switch (event.event) {
    case "tool:executing":
      return `running ${event.preview}`;
    case "tool:finished":
      return event.status === "success" ? null : `${event.id} failed`;
    case "job:started":
      return `background job ${event.job}: ${event.preview}`;
    case "job:finished":
      return `background job ${event.job}: ${event.status} after ${event.seconds} s`;
    case "request:sending":
      return `waiting for ${event.model}`;
    case "request:retrying":
    case "request:waiting":
    case "request:fallback":
      return waitSentence(event);
    case "approval:denied":
      return `denied: ${event.preview}`;
    case "context:compacted":
      return compactedSentence(event);
    case "notice":
    case "tool:waiting":
      return event.message;
    case "diagnostic":
      return `line ${event.diagnostic.start ?? 1}: ${event.diagnostic.message}`;
    default:
      return null;
  }
}
