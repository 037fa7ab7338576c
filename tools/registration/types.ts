// The forms in which tools come into a registry, and what is told of sources that take their time.

import type { Outcome, Problem } from "../../base/problem.ts";
import type { Registration } from "../definition.ts";

/**
 * Takes the tools of a source, any number of times. A definition that is not one is told as a warning and costs only
 * itself; a source that wants to know reads the answer.
 */
export type RegisterTool = {
  (name: string, definition: Registration): Outcome<readonly Problem[]>;
  (definition: Registration): Outcome<readonly Problem[]>;
};

/**
 * Finds tools at run time. `done` is called once, with a sentence when it went wrong; further calls do nothing. One that
 * takes no `done` is over when it returns, or when the promise it returns is fulfilled. Thrown is as `done` with the text.
 * `within` says how many seconds it may take from now on.
 */
export type ResolveTools = (
  register: RegisterTool,
  done: (error?: string) => void,
  within: (seconds: number) => void,
) => unknown;

/** Where tools come from that are not known when a document is opened: a server, a folder, a program. */
export interface ToolSource {
  /** How messages call it. @default the name of the function, or "a source of tools" */
  readonly name?: string;
  /** Seconds until it counts as done; its tools so far stay, later ones count from then on. @default `tools.default_timeout` */
  readonly timeout?: number;
  /**
   * Whether a tool of that name may come from it: only such calls wait for it, and wait for a person when it failed.
   *
   * @default any name
   */
  mayHave?(name: string): boolean;
  /** Finds the tools; called when they are first needed. */
  resolve: ResolveTools;
}

/** Sources that are asked about a name: all, or only the code that settings name, which is there without a server or host. */
export type AskedSources = "all" | "code";

/** How a source stands. */
export type SourceState =
  /** Nobody needed it yet. */
  | "idle"
  /** It was asked and has not answered. */
  | "pending"
  | "done"
  /** It answered that it could not, or it threw. */
  | "failed"
  /** Its time was over; it may still answer. */
  | "timed-out"
  /** It is not asked at all. */
  | "left-out";

/** One source, as it stands now. */
export interface SourceStatus {
  /** How messages call it. */
  readonly name: string;
  /** How far it is. */
  readonly state: SourceState;
  /** Why it has no tools, for `failed`, `timed-out` and `left-out`. */
  readonly reason?: string;
}
