// Shows a run to people (display, messages) and to programs (events).

import { decidedBy } from "../../agent/review/decided_by.ts";
import type { RunEvent } from "../../agent/views/run_event.ts";
import { isObject } from "../../base/is_object.ts";
import type { Problem } from "../../base/problem.ts";
import { readRegularSync } from "../../base/system/regular_file.ts";
import { visible } from "../../base/visible.ts";
import type { CycleEvent, Stop, UsageRecord } from "../../cycle/types.ts";
import { isWait, waitSentence } from "../../cycle/run/waits.ts";
import { recordsOf } from "../../cycle/usage/log.ts";
import { totalOf } from "../../cycle/usage/record.ts";
import { lineChange } from "../../parser/edits/line_change.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { fileChangeSentence } from "../../sandbox/mod.ts";
import type { Invocation } from "../invocation.ts";
import { compactedSentence, runWords } from "../io/amounts.ts";
import { diagnosticLine } from "../io/diagnostics.ts";
import { type Display, displayKind } from "../io/display/display.ts";
import { Exit, exitOfStop } from "../io/exit.ts";
import type { Interrupts } from "../io/interrupt.ts";
import { PlainLines } from "../io/display/plain_lines.ts";
import { writeLines } from "../io/streams.ts";
import { Terminal } from "../io/display/terminal.ts";
import { compactAdvice } from "../line/advice.ts";
import { switchOption } from "../line/options.ts";
import type { CommandDocument, DocumentOptions } from "../document/open.ts";
import { labelOf } from "../document/read.ts";
import { type EventSink, openEvents } from "./events.ts";
import { lastWords } from "./summary.ts";

export interface FinishedRun {
  readonly document: CommandDocument;
  readonly stop: Stop;
  readonly exit: number;
  /** Usage of the run's requests, one record for each. */
  readonly records: readonly UsageRecord[];
}

/** What a document shares with others that run in the same process. */
export interface Among extends Pick<DocumentOptions, "limiter" | "signal"> {
  readonly interrupts: Interrupts;
  /** Called when the document's run ends, before the messages about it, with the usage of its requests. */
  ended(stop: Stop, records: readonly UsageRecord[]): void;
  /** Reports that the document waits for its provider, or that another model is asked. */
  waits(sentence: string): void;
}

/** Parts of the output that a command shows in its own way. */
export interface Driving {
  /** Replaces the display chosen by the options; null shows nothing. */
  readonly display?: Display | null;
  /** Reports the end of a run; returns false to leave that to the usual messages. */
  readonly ended?: (run: FinishedRun) => boolean;
  /** True if the run compacts the document when its context window is full and the settings say so. @default false */
  readonly compacts?: boolean;
  /** What the document shares with others; absent if this is the only document. */
  readonly among?: Among;
}

export class Show {
  readonly #invocation: Invocation;
  readonly #among: Among | undefined;
  readonly #label: string;
  readonly #display: Display | null;
  /** Receiver of events; null until the document is open. */
  #events: EventSink | null = null;
  /** Events from the time before the document was open. */
  readonly #early: RunEvent[] = [];
  #cursor: number | null = null;
  readonly #records: UsageRecord[] = [];
  /** The last question for a secret. The next question waits for it. */
  #asked: Promise<string | null> = Promise.resolve(null);
  /** True if a diagnostic already explained why the run stopped. */
  #explained = false;
  /** Texts of the notices that were shown. */
  readonly #noticed = new Set<string>();

  readonly #ended: Driving["ended"];

  constructor(invocation: Invocation, { display, ended, among }: Driving) {
    this.#invocation = invocation;
    this.#among = among;
    this.#label = labelOf(invocation);
    const { messages } = invocation;
    this.#display = display === undefined ? displayOf(invocation) : display;
    this.#ended = ended;
    const listener = messages.onLine;
    messages.onLine = (level, text) => {
      listener(level, text);
      this.#write({ event: "message", level, text });
    };
  }

  /** Returns listeners for the events and, with `--edits`, for the changes of the document. */
  listeners(): Pick<DocumentOptions, "emit" | "changed"> {
    const emit = (event: CycleEvent) => this.event(event);
    if (switchOption(this.#invocation.arguments, "edits") !== true) return { emit };
    const changed = (before: Uint8Array, after: Uint8Array) => {
      const change = lineChange(before, after);
      if (change !== null) this.#write({ event: "edit", ...change });
    };
    return { emit, changed };
  }

  /** Opens the receiver of events and writes the earlier events to it; returns the problem if it cannot. */
  openEvents({ mode, session }: CommandDocument): Problem | null {
    const among = this.#among === undefined ? undefined : { document: this.#label };
    const opened = openEvents(this.#invocation, { mode, path: session.path, among });
    if (!opened.ok) return opened.problem;
    this.#events = opened.value;
    for (const event of this.#early) this.#events.write(event);
    return null;
  }

  event(event: CycleEvent): void {
    const { messages } = this.#invocation;
    this.#write(event);
    if (event.event === "cursor") this.#cursor = event.line;
    if (event.event === "request:finished" && event.record !== undefined) this.#records.push(event.record);
    const note = noteOf(event);
    const wait = isWait(event) ? waitSentence(event) : null;
    if (wait !== null && this.#among !== undefined) this.#among.waits(wait);
    else if (note !== null || wait !== null) messages.note(`flemma: ${note ?? wait}`);
    if (event.event === "notice" && switchOption(this.#invocation.arguments, "quiet") !== true) {
      this.#noticed.add(event.message);
    }
    if (event.event === "diagnostic") {
      this.#explained ||= event.diagnostic.severity === "error";
      messages.say(diagnosticLine(this.#label, event.diagnostic));
    }
    this.#display?.show(event);
  }

  /** Asks for a secret, one question at a time; null if the person gives none. */
  askSecret(question: string): Promise<string | null> {
    return this.#asked = this.#asked.then(async () => {
      const resume = this.#display?.hold?.();
      try {
        const { readHidden } = await import("../io/hidden_line.ts");
        return await readHidden(`${visible(question)} (not shown): `) || null;
      } finally {
        resume?.();
      }
    });
  }

  async used({ session }: CommandDocument): Promise<void> {
    const { environment, messages } = this.#invocation;
    const { path, settings } = session;
    const before = path === null ? [] : await recordsOf(environment, path);
    const words = runWords(this.#records, totalOf(before.slice(0, before.length - this.#records.length)), {
      prices: settings.ui.pricing.enabled,
    });
    this.#display?.close();
    if (words !== null) messages.note(`flemma: ${words}`);
  }

  #write(event: RunEvent): void {
    if (this.#events === null) this.#early.push(event);
    else this.#events.write(event);
  }

  /** Reports how the run ended; returns the exit code. */
  end(document: CommandDocument, stop: Stop): number {
    this.#display?.close();
    this.#among?.ended(stop, this.#records);
    const { command } = this.#invocation.arguments;
    const stopped = exitOfStop(stop, { command: command.name, interrupted: document.interrupts.received });
    // The model already knows that its command did not run. The exit code informs the person who set up this machine.
    const exit = stopped === Exit.ok && document.session.sandbox.refused !== null ? Exit.failure : stopped;
    const { reason, ids, line, problem } = stop;
    showCursor(this.#invocation, document, line ?? this.#cursor);
    const reported = this.#ended?.({ document, stop, exit, records: this.#records }) ?? false;
    // The message does not repeat what a notice or a diagnostic said.
    const noticed = problem !== undefined && problem.next === undefined && this.#noticed.has(problem.message);
    if (!reported && !noticed && (reason !== "diagnostics" || !this.#explained)) {
      this.#tellEnd(document, stop);
    }
    this.#events?.write({ event: "stopped", reason, ids, line, exit, problem });
    const fault = this.#events?.fault ?? null;
    if (fault !== null) this.#invocation.messages.problem(fault);
    return fault !== null && exit === Exit.ok ? Exit.failure : exit;
  }

  #tellEnd({ session, file, label }: CommandDocument, stop: Stop): void {
    const { messages, arguments: { command } } = this.#invocation;
    const onDisk = () => onDiskOf(session);
    for (const words of lastWords({ stop, chat: session.chat, onDisk, file, label, command: command.name })) {
      if ("problem" in words) messages.problem(withFile(words.problem, file));
      else if ("say" in words) messages.say(words.say);
      else messages.note(words.note);
    }
  }

  async close(): Promise<void> {
    this.#display?.close();
    this.#invocation.messages.onLine = () => {};
    await this.#events?.close();
  }
}

/** Returns the display on standard error; null if messages do not go to it or `--quiet` is set. */
function displayOf({ messages, environment, arguments: given }: Invocation): Display | null {
  if (!messages.live || switchOption(given, "quiet") === true) return null;
  if (displayKind(environment) === "drawn") return new Terminal(messages);
  const text = Deno.stderr.isTerminal();
  // A program that reads JSON events does not need them in plain lines too.
  if (!text && switchOption(given, "json") === true) return null;
  return new PlainLines(messages, { text });
}

/** Returns the note to show for an event, whatever the display; null for most events. */
function noteOf(event: CycleEvent): string | null {
  switch (event.event) {
    case "notice":
      return event.message;
    case "tool:message": {
      const { type, url } = isObject(event.content) ? event.content : {};
      return type === "open_url" && typeof url === "string" ? `a tool asks you to open ${url}` : null;
    }
    case "file:changed": {
      const { path, change, obeyed_by: obeyedBy, diff } = event;
      if (change === undefined || obeyedBy === undefined) return null;
      return fileChangeSentence({ path, change, obeyedBy, diff });
    }
    case "context:compacted":
      return compactedSentence(event);
    case "tool:waiting":
      return event.message;
    case "approval:denied":
      return `denied by ${decidedBy(event.source)}: ${event.preview}`;
    default:
      return null;
  }
}

function showCursor(invocation: Invocation, document: CommandDocument, line: number | null): void {
  if (line === null || switchOption(invocation.arguments, "cursor") !== true) return;
  const place = `${document.label}:${line}`;
  // In filter mode standard output carries only the document.
  if (document.mode === "file" && switchOption(invocation.arguments, "json") !== true) {
    writeLines(`${place}\n`);
  } else invocation.messages.say(place);
}

function onDiskOf({ path, chat }: CommandDocument["session"]): Chat {
  if (path === null) return chat;
  try {
    return parse(readRegularSync(path).bytes);
  } catch {
    // The failure was already reported, together with the place where the text is saved.
    return chat;
  }
}

/** Puts the document into advice that names a command for it. */
function withFile(problem: Problem, file: string | null): Problem {
  if (problem.next === undefined || file === null) return problem;
  return {
    ...problem,
    next: problem.next.replace(compactAdvice(null), () => compactAdvice(file)),
  };
}
