// Lets a cycle run for a command: shows what happens, and turns how it ended into an exit code and a next step.

import { listed } from "../../base/names.ts";
import { decidedBy } from "../../agent/review/decided_by.ts";
import type { RunEvent } from "../../agent/views/run_event.ts";
import { isObject } from "../../base/is_object.ts";
import type { Problem } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import { cutToWidth } from "../../base/width.ts";
import type { CycleEvent, Emit, Stop } from "../../cycle/types.ts";
import { recordsOf } from "../../cycle/usage/log.ts";
import { totalOf } from "../../cycle/usage/record.ts";
import type { UsageRecord } from "../../cycle/types.ts";
import { isPlaceholder } from "../../parser/edits/result_block.ts";
import { lineChange } from "../../parser/edits/line_change.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { advised, compactAdvice } from "../line/advice.ts";
import { diagnosticLine } from "../io/diagnostics.ts";
import { type DocumentOptions, type OpenDocument, withDocument } from "./open.ts";
import { labelOf } from "./read.ts";
import { type EventSink, openEvents } from "./events.ts";
import { Exit, exitOf } from "../io/exit.ts";
import type { Interrupts } from "../io/interrupt.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { fileChangeSentence } from "../../sandbox/mod.ts";
import { runWords } from "../io/amounts.ts";
import { refuse } from "../io/refuse.ts";
import { writeOutput } from "../io/streams.ts";
import { type Display, displayKind } from "../io/display.ts";
import { PlainLines } from "../io/plain_lines.ts";
import { Terminal } from "../io/terminal.ts";
import { inWords } from "../../providers/http/patience.ts";
import { handyNames } from "../../cycle/plan/targets.ts";
import { decisionAdvice, lastWordSentence, wayOn, wayOnAfter } from "../line/way_on.ts";

/** How an act ended: by itself, or because it was refused, which has been told. */
type Ending = Stop | { readonly exit: number };

/** A run that is over. */
export interface Ended {
  readonly document: OpenDocument;
  readonly stop: Stop;
  readonly exit: number;
  /** What its requests used. */
  readonly records: readonly UsageRecord[];
}

/** What a document shares that is one of several. */
export interface Among extends Pick<DocumentOptions, "limiter"> {
  readonly interrupts: Interrupts;
  /** Told how the document ended, before that is put into words, and what its requests used. */
  ended(stop: Stop, records: readonly UsageRecord[]): void;
}

/** What a command shows in its own way. */
export interface Driving {
  /** Shows the run in place of what the options ask for; null shows nothing. */
  readonly display?: Display | null;
  /** Says the last words of a run; false leaves them to the usual ones. */
  readonly ended?: (run: Ended) => boolean;
  /** Left out where the document is the only one. */
  readonly among?: Among;
}

/** Opens the document, runs `act`, which may tell of more than its document does, and answers with the exit code. */
export async function drive(
  invocation: Invocation,
  act: (document: OpenDocument, emit: Emit) => Promise<Ending>,
  driving: Driving = {},
): Promise<number> {
  const show = new Show(invocation, driving);
  const { among } = driving;
  try {
    // Several cannot all ask at one terminal.
    const shared = among === undefined
      ? asking(invocation, show)
      : { interrupts: among.interrupts, limiter: among.limiter };
    const options = { ...show.listeners(), ...shared };
    return await withDocument(invocation, options, async (document) => {
      const problem = show.openEvents(document);
      if (problem !== null) return refuse(invocation, problem);
      const ending = await act(document, (event) => show.event(event));
      if (among === undefined) await show.used(document);
      if ("exit" in ending) return ending.exit;
      return show.end(document, ending);
    });
  } finally {
    await show.close();
  }
}

/** Where somebody sits at the terminal, tools may ask them. */
function asking({ arguments: given }: Invocation, show: Show): Partial<DocumentOptions> {
  const interactive = switchOption(given, "quiet") !== true && Deno.stdin.isTerminal() &&
    Deno.stderr.isTerminal();
  return interactive ? { interactive, askSecret: (question) => show.askSecret(question) } : {};
}

/** Whether the person asks the model to go on where it spoke last. */
export function goesOn(invocation: Invocation): boolean {
  return switchOption(invocation.arguments, "continue") === true;
}

/** What a person and a program see of a run. */
class Show {
  readonly #invocation: Invocation;
  readonly #among: Among | undefined;
  readonly #label: string;
  readonly #display: Display | null;
  /** Null until it is known which document the run is about. */
  #events: EventSink | null = null;
  /** What happened before that. */
  readonly #early: RunEvent[] = [];
  #cursor: number | null = null;
  /** What the requests of this run used. */
  readonly #records: UsageRecord[] = [];
  /** The last question that was asked. */
  #asked: Promise<string | null> = Promise.resolve(null);
  /** Whether a diagnostic has told already why nothing goes on. */
  #explained = false;
  /** Sentences of notices that were shown. */
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

  /** What the document tells while it is worked on. */
  listeners(): Pick<DocumentOptions, "emit" | "changed"> {
    const emit = (event: CycleEvent) => this.event(event);
    if (switchOption(this.#invocation.arguments, "edits") !== true) return { emit };
    const changed = (before: Uint8Array, after: Uint8Array) => {
      const change = lineChange(before, after);
      if (change !== null) this.#write({ event: "edit", ...change });
    };
    return { emit, changed };
  }

  /** Opens what takes the events; answers with what is in the way. */
  openEvents({ mode, session }: OpenDocument): Problem | null {
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
    if (event.event === "notice") messages.note(`flemma: ${event.message}`);
    if (event.event === "request:retrying") messages.note(`flemma: ${retrySentence(event)}`);
    if (event.event === "tool:message") {
      const { type, url } = isObject(event.content) ? event.content : {};
      if (type === "open_url" && typeof url === "string") {
        messages.note(`flemma: a tool names an address: ${url}`);
      }
    }
    if (event.event === "file:changed") {
      const { path, change, obeyed_by: obeyedBy } = event;
      if (change !== undefined && obeyedBy !== undefined) {
        messages.note(`flemma: ${fileChangeSentence({ path, change, obeyedBy })}`);
      }
    }
    if (event.event === "approval:denied") {
      messages.note(
        `flemma: denied by ${decidedBy(event.source)}: ${event.preview}`,
      );
    }
    if (event.event === "notice" && switchOption(this.#invocation.arguments, "quiet") !== true) {
      this.#noticed.add(event.message);
    }
    if (event.event === "diagnostic") {
      this.#explained ||= event.diagnostic.severity === "error";
      messages.say(diagnosticLine(this.#label, event.diagnostic));
    }
    this.#display?.show(event);
  }

  /** Asks for a secret, one after the other; null when the person gives none. */
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

  /** Says what the run used, of tokens and of money. */
  async used({ session }: OpenDocument): Promise<void> {
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

  /** Says how the run ended; answers with the exit code. */
  end(document: OpenDocument, stop: Stop): number {
    this.#display?.close();
    this.#among?.ended(stop, this.#records);
    const { command } = this.#invocation.arguments;
    const stopped = exitOfStop(stop, { command: command.name, interrupted: document.interrupts.received });
    // The model was told that its command did not run; whoever set up this machine has to be told too.
    const exit = stopped === Exit.ok && document.session.sandbox.refused !== null ? Exit.failure : stopped;
    const { reason, ids, line, problem } = stop;
    showCursor(this.#invocation, document, line ?? this.#cursor);
    const told = this.#ended?.({ document, stop, exit, records: this.#records }) ?? false;
    // What a notice or a diagnostic has said already is not said again.
    const noticed = problem !== undefined && problem.next === undefined && this.#noticed.has(problem.message);
    if (!told && !noticed && (reason !== "diagnostics" || !this.#explained)) {
      tell(this.#invocation, document, stop);
    }
    this.#events?.write({ event: "stopped", reason, ids, line, exit, problem });
    const fault = this.#events?.fault ?? null;
    if (fault !== null) this.#invocation.messages.problem(fault);
    return fault !== null && exit === Exit.ok ? Exit.failure : exit;
  }

  async close(): Promise<void> {
    this.#display?.close();
    this.#invocation.messages.onLine = () => {};
    await this.#events?.close();
  }
}

/** What shows the run on standard error; null where messages do not go there, or nobody wants to see it. */
function displayOf({ messages, environment, arguments: given }: Invocation): Display | null {
  if (!messages.live || switchOption(given, "quiet") === true) return null;
  if (displayKind(environment) === "drawn") return new Terminal(messages);
  const text = Deno.stderr.isTerminal();
  // Whoever reads the events as JSON needs no second account of them.
  if (!text && switchOption(given, "json") === true) return null;
  return new PlainLines(messages, { text });
}

/** Why the request is made again, when, and for which time. */
function retrySentence(
  { error, attempt, of, wait }: Extract<CycleEvent, { event: "request:retrying" }>,
): string {
  return `${error.message.replace(/[^.!?]$/, "$&.")} Asking again in ${
    inWords(wait)
  } (try ${attempt} of ${of}).`;
}

function exitOfStop(
  { reason, problem }: Stop,
  { command, interrupted }: { readonly command: string; readonly interrupted: boolean },
): number {
  switch (reason) {
    case "answered":
      // Where nothing is to be done all is well; a request that was asked for and not made is another matter.
      return command === "send" ? Exit.person : Exit.ok;
    case "done":
    case "cut":
    case "stepped":
    case "throttled":
      return Exit.ok;
    case "last-word":
    case "unanswered":
    case "pending":
    case "protected":
    case "turn-limit":
    case "repeats":
    case "context-full":
    case "budget":
    case "yield":
      return Exit.person;
    case "diagnostics":
    case "empty":
      return Exit.diagnostics;
    case "conflict":
      return Exit.conflict;
    case "failed":
      return problem === undefined ? Exit.failure : exitOf(problem);
    case "cancelled":
      return interrupted ? Exit.interrupted : Exit.failure;
  }
}

function showCursor(invocation: Invocation, document: OpenDocument, line: number | null): void {
  if (line === null || switchOption(invocation.arguments, "cursor") !== true) return;
  const place = `${document.label}:${line}`;
  // In filter mode standard output carries the document and nothing else.
  if (document.mode === "file" && switchOption(invocation.arguments, "json") !== true) {
    writeOutput(`${place}\n`);
  } else invocation.messages.say(place);
}

/** The last words: what is to be done next. Ids a person has to look at are said even with --quiet. */
function tell(invocation: Invocation, document: OpenDocument, stop: Stop): void {
  const { messages } = invocation;
  const { reason, ids, problem } = stop;
  const { file, session } = document;
  const command = (name: string, ...ids: string[]) => advised(name, file, ...ids);
  const calls = ids.length === 1 ? "1 call" : `${ids.length} calls`;
  const advance = command("advance");
  switch (reason) {
    case "done":
      messages.note(`The reply is complete. Write below the last @You: and go on with: ${advance}`);
      break;
    case "cut":
      messages.note(
        `The reply is not complete. Let it go on with: ${advance} --continue, or write below the last @You:`,
      );
      break;
    case "answered": {
      const words = `Nothing to do: write below the last @You:, then: ${advance}`;
      if (invocation.arguments.command.name === "send") messages.say(words);
      else messages.note(words);
      break;
    }
    case "last-word":
      messages.say(`flemma: ${lastWordSentence(file)}`);
      break;
    case "stepped":
      for (const line of outcomes(session.chat, ids)) messages.note(line);
      messages.note(wayOn(session.chat, file));
      break;
    case "throttled":
      messages.note(`Go on with: ${advance}`);
      break;
    case "unanswered":
      messages.say(
        `${calls} (${listed(ids)}) ${ids.length === 1 ? "has" : "have"} no result yet, and a request needs ` +
          `them all. Go on with: ${advance}`,
      );
      break;
    case "pending":
      messages.say(
        `${calls} ${ids.length === 1 ? "waits" : "wait"} for you${
          ids.length > 1 ? ` (${listed(ids)})` : ""
        }: ` +
          decisionAdvice(handyNames(session.chat, ids), file),
      );
      break;
    case "protected":
      messages.say(
        `${calls} ${ids.length === 1 ? "is" : "are"} approved, but there is text in the block (${
          listed(ids)
        }, line ${stop.line}). Delete the text to run the call, or write pending to send the text as its result.`,
      );
      break;
    case "turn-limit":
      messages.say(`Stopped before ${calls} (${listed(ids)}). Go on with: ${advance}`);
      break;
    case "repeats":
    case "budget":
      if (problem !== undefined) messages.problem(problem);
      break;
    case "context-full":
      if (problem !== undefined) {
        const next = `Go on in a smaller document: ${
          compactAdvice(file)
        }. Or send it all the same: ${advance}`;
        messages.problem({ ...problem, next });
      }
      break;
    case "yield":
      messages.say(
        `${calls} (${listed(ids)}) ${ids.length === 1 ? "asks" : "ask"} for you. Go on with: ${advance}`,
      );
      break;
    case "cancelled":
      messages.note(`Interrupted. ${wayOn(session.chat, file)}`);
      break;
    case "diagnostics":
      if (problem !== undefined) messages.say(`flemma: ${place(document, stop)}${problem.message}`);
      break;
    case "empty":
    case "conflict":
      if (problem !== undefined) messages.problem(problem);
      break;
    case "failed":
      if (problem !== undefined) messages.problem(problem);
      if (problem?.code.startsWith("provider-")) {
        const way = wayOnAfter(problem, session.chat, file);
        if (way !== null) messages.say(`  ${way}`);
      }
      if (problem?.code === "write-failed") messages.say(`  ${wayOn(onDisk(session), file)}`);
      break;
  }
}

/** The document as the disk has it after a write that failed: what works is what the next run will read. */
function onDisk({ path, chat }: OpenDocument["session"]): Chat {
  if (path === null) return chat;
  try {
    return parse(Deno.readFileSync(path));
  } catch {
    // The failure itself has been told, and with it where the text is.
    return chat;
  }
}

/** What came out of calls that ran, each on a line: the first words of its result. */
function outcomes(chat: Chat, ids: readonly string[]): string[] {
  return ids.flatMap((id) => {
    const result = chat.result(id);
    if (result === undefined || isPlaceholder(result)) return [];
    const said = result.content.split("\n").find((line) => line.trim() !== "") ?? "no output";
    const what = `${chat.call(id)?.name ?? "the call"} (${id})`;
    const end = result.status === "error" ? "failed" : "is done";
    // A list of what is wrong follows in the document.
    return [
      `${what} ${end}: ${cutToWidth(said.trim().replace(/:$/, "."), 100)}   line ${result.header.start}`,
    ];
  });
}

function place(document: OpenDocument, { line }: Stop): string {
  return line === null ? "" : `${document.label}:${line}: `;
}
