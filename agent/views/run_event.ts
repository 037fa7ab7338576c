// What a program is told that follows a run from outside: each line of `--json` and `--events` is one of these values.

import type { CycleEvent, Stop } from "../../cycle/types.ts";
import type { LineChange } from "../../parser/edits/line_change.ts";

/** The run is over: the last event of every stream, or of each document where there are several. */
export interface StoppedEvent {
  /** Its name. */
  readonly event: "stopped";
  /** Why it came to rest. */
  readonly reason: Stop["reason"];
  /** The calls the reason is about, in document order. */
  readonly ids: readonly string[];
  /** Where a person should go on, 1-based; null when no line stands out. */
  readonly line: number | null;
  /** The exit code. */
  readonly exit: number;
  /** What went wrong, if something did. */
  readonly problem?: Stop["problem"];
}

/** A line that is printed for a person as well. */
export interface MessageEvent {
  /** Its name. */
  readonly event: "message";
  /** Whether `--quiet` would leave it out (`note`), or not. */
  readonly level: "note" | "error";
  /** The line, safe to show. */
  readonly text: string;
}

/** The text of a filter changed: all of them in order make what comes out of what went in (`--edits`). */
export type EditEvent = { readonly event: "edit" } & LineChange;

/**
 * A line of an event stream, as `JSON.parse` gives it. New events and new members come: pass over what you do not know.
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
  /** The document it is about, as it was named, where a command works on several. */
  readonly document?: string;
};
