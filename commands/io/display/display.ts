// The interface of run displays, the choice between them, and the wording they share.

import type { Environment } from "../../../base/environment.ts";
import type { CycleEvent } from "../../../cycle/types.ts";
import { writeError } from "../streams.ts";

/** Shows the events of a run on standard error. */
export interface Display {
  show(event: CycleEvent): void;
  /** Finishes unfinished output. May be called more than once. */
  close(): void;
  /**
   * Stops redrawing while a person types at the same terminal; the returned function resumes it. @default
   * nothing is redrawn
   */
  hold?(): () => void;
}

/** What a display needs from the program: the stream, a clock in milliseconds, and a repeating timer. */
export interface DisplayHost {
  write(text: string): void;
  now(): number;
  every(milliseconds: number, act: () => void): () => void;
}

export const REAL: DisplayHost = {
  write: writeError,
  now: () => performance.now(),
  every: (milliseconds, act) => {
    const timer = setInterval(act, milliseconds);
    return () => clearInterval(timer);
  },
};

/** How a run is shown: redrawn on a terminal that can move its cursor, and otherwise as plain lines. */
export type DisplayKind = "drawn" | "lines";

/**
 * Returns the kind of display. A run is redrawn only on a terminal, and not if NO_COLOR is set or the terminal is
 * "dumb".
 */
export function displayKind({ variables }: Environment): DisplayKind {
  const plain = variables.NO_COLOR || variables.TERM === "dumb";
  return Deno.stderr.isTerminal() && !plain ? "drawn" : "lines";
}

/** Returns what a reply is doing while no text arrives. */
export function progressText(event: Extract<CycleEvent, { event: "reply:progress" }>): string {
  const { block, name, characters } = event;
  const what = block === "thinking"
    ? "thinks"
    : name === undefined
    ? "writing a call"
    : `writing a call of ${name}`;
  if (characters === 0) return what;
  return `${what}, ${characters.toLocaleString("en")} ${characters === 1 ? "character" : "characters"}`;
}

export function formatElapsed(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)}s` : minutes(seconds);
}

/** Formats the remaining time in whole seconds that count down to 0; `milliseconds` may be negative. */
export function formatRemaining(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `in ${seconds < 60 ? `${seconds}s` : minutes(seconds)}`;
}

function minutes(seconds: number): string {
  return `${Math.floor(seconds / 60)}m${String(Math.floor(seconds % 60)).padStart(2, "0")}s`;
}
