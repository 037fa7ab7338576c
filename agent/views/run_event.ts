// The events for programs that follow a run from outside: each line of `--json` and `--events` is one of these
// values.

import type { CycleEvent, Stop } from "../../cycle/types.ts";
import type { LineChange } from "../../parser/edits/line_change.ts";

/** The run is over. This is the last event of every stream, or of each document if there are several. */
export interface StoppedEvent {
  /** The name of the event. */
  readonly event: "stopped";
  /** Reason why the run stopped. */
  readonly reason: Stop["reason"];
  /** The calls that the reason is about, in document order. */
  readonly ids: readonly string[];
  /** The line at which a person should continue, 1-based; null if there is no such line. */
  readonly line: number | null;
  /** The exit code. */
  readonly exit: number;
  /** What went wrong, if something did. */
  readonly problem?: Stop["problem"];
}

/** A line that is also printed for a person. */
export interface MessageEvent {
  /** The name of the event. */
  readonly event: "message";
  /** Level of the message: `--quiet` omits a `note`, and not an `error`. */
  readonly level: "note" | "error";
  /** The line, safe to show. */
  readonly text: string;
}

/**
 * The edits of a filter's text (`--edits`). If the edits of all these events are applied to the input in order, they
 * give the output.
 */
export type EditEvent = { readonly event: "edit" } & LineChange;

/**
 * A line of an event stream, as `JSON.parse` gives it. New events and members may be added: ignore unknown ones.
 *
 * ```ts
 * import type { RunEvent } from "flemma";
 *
 * const line = '{"event":"tool:finished","id":"call_1","name":"read","status":"success"}';
 * const event: RunEvent = JSON.parse(line);
 * if (event.event === "tool:finished") console.log(event.name, event.status); // read success
 * ```
 */
export type RunEvent = (CycleEvent | StoppedEvent | MessageEvent | EditEvent) & {
  /** The document that the event is about, as it was named; present if a command works on several documents. */
  readonly document?: string;
};
