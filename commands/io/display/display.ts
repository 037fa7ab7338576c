// What shows a run while it goes on: which kind of display fits where the messages go, and the words all kinds use.

import type { Environment } from "../../../base/environment.ts";
import type { CycleEvent } from "../../../cycle/types.ts";
import { writeError } from "../streams.ts";

/** Shows what happens, on standard error. */
export interface Display {
  show(event: CycleEvent): void;
  /** Ends what is unfinished. May be called more than once. */
  close(): void;
  /** Draws nothing by itself while somebody types at the same terminal; what is given back ends that. @default nothing is drawn */
  hold?(): () => void;
}

/** What a display uses of the world: the stream, the time in milliseconds, and calls at an interval until stopped. */
export interface Surroundings {
  write(text: string): void;
  now(): number;
  every(milliseconds: number, act: () => void): () => void;
}

/** The real ones: standard error, and the clock of this process. */
export const REAL: Surroundings = {
  write: writeError,
  now: () => performance.now(),
  every: (milliseconds, act) => {
    const timer = setInterval(act, milliseconds);
    return () => clearInterval(timer);
  },
};

/** How a run is shown: drawn for a terminal that can move its cursor, in plain lines anywhere else. */
export type DisplayKind = "drawn" | "lines";

/** Only a terminal is drawn on, and none whose owner declines colours or that knows no control characters. */
export function displayKind({ variables }: Environment): DisplayKind {
  const plain = variables.NO_COLOR || variables.TERM === "dumb";
  return Deno.stderr.isTerminal() && !plain ? "drawn" : "lines";
}

/** What a reply does while no text of it comes. */
export function progressText(event: Extract<CycleEvent, { event: "reply:progress" }>): string {
  const { block, name, characters } = event;
  const what = block === "thinking"
    ? "thinks"
    : name === undefined
    ? "writes a call"
    : `writes a call of ${name}`;
  if (characters === 0) return what;
  return `${what}, ${characters.toLocaleString("en")} ${characters === 1 ? "character" : "characters"}`;
}

/** A time in milliseconds as people read it. */
export function elapsed(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)}s` : minutes(seconds);
}

/** A time to come, in whole seconds that count down to 0. */
export function remaining(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `in ${seconds < 60 ? `${seconds}s` : minutes(seconds)}`;
}

function minutes(seconds: number): string {
  return `${Math.floor(seconds / 60)}m${String(Math.floor(seconds % 60)).padStart(2, "0")}s`;
}
