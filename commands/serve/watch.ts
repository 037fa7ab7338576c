// `flemma watch`: documents are advanced whenever they are saved, each by itself, until Ctrl-C.

import { nextNeed } from "../../agent/views/next_need.ts";
import type { ChatOptions } from "../../agent/types.ts";
import { absolutePath } from "../../base/paths.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import type { CycleEvent, Stop } from "../../cycle/types.ts";
import { stopWords } from "../../editors/stop_words.ts";
import { hostOptions } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { Interrupts } from "../io/interrupt.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";
import { watchSaves } from "./saves.ts";
import { isAgain, isSaved, type Known, type Look, lookAt } from "./watched.ts";

/** Another run may have the document for hours; the save waits for its end. */
const LONGEST_WAIT = 7 * 24 * 60 * 60;

export async function run(invocation: Invocation): Promise<number> {
  const { environment, messages, arguments: { positionals } } = invocation;
  const host = hostOptions(invocation);
  if (!host.ok) return refuse(invocation, host.problem);
  const files = new Map(positionals.map((label) => [absolutePath(environment, label), label]));
  for (const [path, label] of files) {
    const problem = label === "-" ? NO_PIPE : inTheWay(path, label);
    if (problem !== null) return refuse(invocation, problem);
  }
  const interrupts = new Interrupts((fault, exit) => {
    if (fault !== null) messages.say(`flemma: This is a fault of the program: ${fault}`);
    messages.close(exit);
    return exit;
  });
  try {
    messages.note(
      `flemma: Watching ${
        [...files.values()].map((label) => visible(label)).join(", ")
      }. Save to advance; Ctrl-C ends.`,
    );
    const watched = [...files].map(([path, label]) =>
      new Watched({ invocation, path, label, host: host.value, signal: interrupts.signal })
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

/** Why a file cannot be watched; null when it can. */
function inTheWay(path: string, label: string): Problem | null {
  try {
    if (Deno.statSync(path).isFile) return null;
    return { code: "document-unreadable", message: `${visible(label)} is a folder, or no plain file.` };
  } catch (thrown) {
    return thrown instanceof Deno.errors.NotFound
      ? { code: "document-missing", message: `There is no file ${visible(label)}.` }
      : { code: "document-unreadable", message: `${visible(label)} cannot be read: ${thrownText(thrown)}.` };
  }
}

interface WatchedOptions {
  readonly invocation: Invocation;
  readonly path: string;
  /** How the person named it. */
  readonly label: string;
  readonly host: ChatOptions;
  readonly signal: AbortSignal;
}

/** One document that is watched. */
class Watched {
  readonly #options: WatchedOptions;
  readonly #teller: Teller;
  #known: Known = { look: null, failed: false };
  #work: Promise<void> | null = null;
  /** Something was saved while it ran. */
  #again = false;
  /** A run was cut short by the end. */
  #cut = false;

  constructor(options: WatchedOptions) {
    this.#options = options;
    this.#teller = new Teller(options);
  }

  /** Settles when the watching has ended; answers whether that cut a run short. */
  async untilEnd(): Promise<boolean> {
    const { path, signal } = this.#options;
    this.#known = { look: await lookAt(path), failed: false };
    await watchSaves({ path, signal, onSave: () => this.#saved() });
    await this.#work;
    return this.#cut;
  }

  /** Looks what was saved, one look at a time; what comes meanwhile is looked at afterwards. */
  #saved(): void {
    if (this.#work !== null) {
      this.#again = true;
      return;
    }
    this.#work = this.#look().finally(() => {
      this.#work = null;
      if (this.#again && !this.#options.signal.aborted) {
        this.#again = false;
        this.#saved();
      }
    });
  }

  async #look(): Promise<void> {
    const now = await lookAt(this.#options.path);
    if (now === null && this.#known.look !== null) this.#teller.note("is gone; it is watched for still.");
    if (isSaved(this.#known, now)) await this.#advance(now!);
    else this.#known = { ...this.#known, look: now?.text.length === 0 ? this.#known.look : now };
  }

  async #advance(first: Look): Promise<void> {
    const { path, signal } = this.#options;
    for (let before: Look | null = first; before !== null && !signal.aborted;) {
      const ended = await this.#once(before);
      const now = await lookAt(path);
      this.#known = { look: now, failed: ended.failed };
      before = ended.stop !== null && isAgain({ before, now, ...ended, reason: ended.stop.reason })
        ? now
        : null;
    }
  }

  /** One run: what it left, and how it ended; null when it could not begin. */
  async #once(before: Look): Promise<OneRun> {
    const { label, host, signal } = this.#options;
    const { openChat } = await import("../../agent/open.ts");
    this.#teller.event({ event: "watch:saved" });
    const opened = await openChat(label, {
      ...host,
      signal,
      wait: LONGEST_WAIT,
      emit: (event) => this.#teller.cycle(event),
      notify: ({ message }) => this.#teller.note(message),
    });
    if (!opened.ok) {
      if (!signal.aborted) this.#teller.problem(opened.problem);
      return { stop: null, ours: before.text, hasQuestion: false, failed: true };
    }
    await using session = opened.value;
    const stop = await session.advance();
    this.#cut ||= signal.aborted;
    this.#teller.stopped(stop);
    return {
      stop,
      ours: session.chat.bytes,
      hasQuestion: nextNeed(session.chat).kind === "advance",
      failed: stop.reason === "failed" || stop.reason === "cancelled",
    };
  }
}

interface OneRun {
  readonly stop: Stop | null;
  readonly ours: Uint8Array;
  readonly hasQuestion: boolean;
  readonly failed: boolean;
}

/** Says what happens to one document: a line for a person, or a line of JSON. */
class Teller {
  readonly #invocation: Invocation;
  readonly #label: string;

  constructor({ invocation, label }: WatchedOptions) {
    this.#invocation = invocation;
    this.#label = label;
  }

  /** A line of JSON, where they are asked for. */
  event(event: Readonly<Record<string, unknown>>): void {
    if (switchOption(this.#invocation.arguments, "json") !== true) return;
    writeOutput(`${safeJson({ document: this.#label, ...event })}\n`);
  }

  note(text: string): void {
    this.#invocation.messages.note(`${visible(this.#label)}: ${visible(text)}`);
  }

  problem(problem: Problem): void {
    const { message, next } = problem;
    this.#invocation.messages.say(
      `flemma: ${visible(this.#label)}: ${visible(next === undefined ? message : `${message} ${next}`)}`,
    );
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

/** What a person reads of an event; null where that is nothing. */
function wordsOf(event: CycleEvent): string | null {
  switch (event.event) {
    case "tool:executing":
      return `runs ${event.preview}`;
    case "tool:finished":
      return event.status === "success" ? null : `${event.id} failed`;
    case "request:sending":
      return `asks ${event.model}`;
    case "request:retrying":
      return `asks again in ${Math.ceil(event.wait)} s: ${event.error.message}`;
    case "approval:denied":
      return `denied: ${event.preview}`;
    case "notice":
      return event.message;
    case "diagnostic":
      return `line ${event.diagnostic.start ?? 1}: ${event.diagnostic.message}`;
    default:
      return null;
  }
}
