// Types of tool sources and of their status.

import type { Outcome, Problem } from "../../base/problem.ts";
import type { Registration } from "../definition.ts";

/**
 * Registers tools of a source, any number of times. An invalid definition is reported as a warning and skipped; the
 * returned outcome tells the source about it.
 */
export type RegisterTool = {
  (name: string, definition: Registration): Outcome<readonly Problem[]>;
  (definition: Registration): Outcome<readonly Problem[]>;
};

/**
 * Finds tools at run time. Call `done` once, with a sentence if it failed; further calls do nothing. A function without
 * a `done` parameter has ended when it returns, or when its promise is fulfilled. Throwing counts as `done` with the
 * error's text. `within` sets how many seconds it may take from now on.
 */
export type ResolveTools = (
  register: RegisterTool,
  done: (error?: string) => void,
  within: (seconds: number) => void,
) => unknown;

/** Source of tools that are not known when a document is opened: a server, a folder, a program. */
export interface ToolSource {
  /** Name in messages. @default the name of the function, or "a source of tools" */
  readonly name?: string;
  /**
   * Seconds until the source counts as done. Tools registered so far stay, and later ones are added on arrival.
   * @default `tools.default_timeout`
   */
  readonly timeout?: number;
  /** Absolute path of the module whose tools these are. @default none */
  readonly file?: string;
  /**
   * True if the source may bring a tool with this name. Only such calls wait for it, or for a person if it failed.
   *
   * @default any name
   */
  mayHave?(name: string): boolean;
  /** Finds the tools; called when they are first needed. */
  resolve: ResolveTools;
}

/**
 * Which sources to ask about a name. `all`: every source. `code`: only modules that settings name, because these need
 * no server and no other process.
 */
export type AskedSources = "all" | "code";

/** State of a source. */
export type SourceState =
  /** The source was not asked yet. */
  | "idle"
  /** The source was asked, but has not answered. */
  | "pending"
  | "done"
  /** The source reported a failure, or it threw. */
  | "failed"
  /** The source's timeout passed; it may still answer. */
  | "timed-out"
  /** The source is never asked. */
  | "left-out";

/** Status of one source. */
export interface SourceStatus {
  /** Name in messages. */
  readonly name: string;
  /** State of the source. */
  readonly state: SourceState;
  /** Reason why the source has no tools, for `failed`, `timed-out` and `left-out`. */
  readonly reason?: string;
}
