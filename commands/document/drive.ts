// Lets a cycle run for a command: shows what happens, and turns how it ended into an exit code and a next step.

import { hostOf } from "../host.ts";
import { operands } from "../../base/shell_word.ts";
import type { CycleEvent, Stop } from "../../cycle/types.ts";
import { compose, type Runtime } from "../../agent/session.ts";
import { diagnosticLine } from "../io/diagnostics.ts";
import type { OpenDocument } from "./open.ts";
import { openEvents } from "./events.ts";
import { Exit, exitOf } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";
import { writeOutput } from "../io/streams.ts";
import { Terminal, wantsTerminal } from "../io/terminal.ts";

/** Composes the runtime, runs `act`, and answers with the exit code. */
export async function drive(
  invocation: Invocation,
  document: OpenDocument,
  act: (runtime: Runtime) => Promise<Stop>,
): Promise<number> {
  const { messages, environment } = invocation;
  const events = openEvents(invocation, document);
  if (!events.ok) return refuse(invocation, events.problem);
  const quiet = switchOption(invocation.arguments, "quiet") === true;
  const terminal = messages.printable && wantsTerminal(environment, quiet) ? new Terminal(messages) : null;
  let cursor: number | null = null;
  let explained = false;
  const emit = (event: CycleEvent) => {
    events.value.write(event);
    if (event.event === "cursor") cursor = event.line;
    if (event.event === "notice") messages.note(`flemma: ${event.message}`);
    if (event.event === "diagnostic") {
      explained ||= event.diagnostic.severity === "error";
      messages.say(diagnosticLine(document.label, event.diagnostic));
    }
    terminal?.show(event);
  };
  try {
    const runtime = await compose(hostOf(invocation), document.store, {
      emit,
      signal: document.interrupts.signal,
    });
    if (!runtime.ok) return refuse(invocation, runtime.problem);
    const { sandbox } = runtime.value;
    if (document.mode === "file") document.store.inPlaceWhile = () => sandbox.activeCommands > 0;
    const stop = await act(runtime.value);
    terminal?.close();
    const exit = exitOfStop(stop, document.interrupts.received);
    const { reason, ids, problem } = stop;
    events.value.write({ event: "stopped", reason, ids, line: stop.line, exit, problem });
    const { fault } = events.value;
    if (fault !== null) messages.problem(fault);
    showCursor(invocation, document, stop.line ?? cursor);
    // What a diagnostic has said already is not said again.
    if (stop.reason !== "diagnostics" || !explained) tell(invocation, document, stop);
    return fault !== null && exit === Exit.ok ? Exit.failure : exit;
  } finally {
    terminal?.close();
    events.value.close();
  }
}

function exitOfStop({ reason, problem }: Stop, interrupted: boolean): number {
  switch (reason) {
    case "done":
    case "stepped":
    case "throttled":
      return Exit.ok;
    case "pending":
    case "protected":
    case "turn-limit":
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
function tell({ messages }: Invocation, document: OpenDocument, stop: Stop): void {
  const { reason, ids, problem } = stop;
  const command = (name: string, ...ids: string[]) => `flemma ${name} ${operands(document.label, ...ids)}`;
  const calls = ids.length === 1 ? "1 call" : `${ids.length} calls`;
  const advance = command("advance");
  switch (reason) {
    case "done":
      messages.note(`The reply is complete. Write below the last @You: and go on with: ${advance}`);
      break;
    case "stepped":
    case "throttled":
      messages.note(`Go on with: ${advance}`);
      break;
    case "pending":
      messages.say(
        `${calls} ${ids.length === 1 ? "waits" : "wait"} for you${
          ids.length > 1 ? ` (${ids.join(", ")})` : ""
        }: ` +
          command("approve", ...ids.slice(0, 1)),
      );
      break;
    case "protected":
      messages.say(
        `${calls} approved but with a text of your own (${ids.join(", ")}): see line ${stop.line}.`,
      );
      break;
    case "turn-limit":
      messages.say(`Stopped before ${calls} (${ids.join(", ")}). Go on with: ${advance}`);
      break;
    case "yield":
      messages.say(`${calls} (${ids.join(", ")}) asked for you. Go on with: ${advance}`);
      break;
    case "cancelled":
      messages.note(`Interrupted. Go on with: ${advance}`);
      break;
    case "diagnostics":
      if (problem !== undefined) messages.say(`flemma: ${place(document, stop)}${problem.message}`);
      break;
    case "empty":
    case "conflict":
    case "failed":
      if (problem !== undefined) messages.problem(problem);
      break;
  }
}

function place(document: OpenDocument, { line }: Stop): string {
  return line === null ? "" : `${document.label}:${line}: `;
}
