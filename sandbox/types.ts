// What the sandbox promises to the rooms above it: a resolved policy, a wrapped command, an answer about a path.

import type { Outcome, Problem } from "../config/problem.ts";

/** A finished policy: every path absolute, real and de-duplicated (sandbox section 4). */
export interface Policy {
  readonly rw_paths: readonly string[];
  readonly network: boolean;
  readonly allow_privileged: boolean;
  /** Real paths that stay read-only inside writable folders (S11). */
  readonly protect: readonly string[];
}

/** Turns a policy and a command into another command. Same rules as approval resolvers for names and order. */
export interface Backend {
  available(config: Readonly<Record<string, unknown>>): Outcome<void> | Promise<Outcome<void>>;
  /** Pure: the argument list of sandbox 7.1 and nothing else. */
  wrap(
    policy: Policy,
    config: Readonly<Record<string, unknown>>,
    inner: readonly string[],
  ): Outcome<string[]>;
  /** Runs an empty command under exactly this policy (S13). */
  probe?(policy: Policy, config: Readonly<Record<string, unknown>>): Promise<Outcome<void>>;
  readonly priority?: number;
  readonly description?: string;
}

/** How a wrapped command is told apart from its own set-up (sandbox 6.3). */
export interface Prepared {
  /** The argument list to spawn; the inner one when nothing wraps it. */
  readonly argv: readonly string[];
  /** Whether a backend stands around the command. */
  readonly wrapped: boolean;
  /**
   * After the command ended: the set-up failure of the backend, or null when the command itself ran.
   * `stderr` is what the backend wrote before the command took over.
   */
  setupFailure(stderr: string): Promise<Problem | null>;
  /** Removes whatever preparing left behind. Call once, always. */
  dispose(): Promise<void>;
}

/** The sandbox of one run of one document; its policy is fixed when it is made. */
export interface Sandbox {
  readonly enabled: boolean;
  policy(): Outcome<Policy>;
  /** The probed answer, computed once: the backend's name, or why there is none. */
  available(): Promise<Outcome<string>>;
  /** Wraps a command; `ok: false` means nothing may run. */
  prepare(inner: readonly string[]): Promise<Outcome<Prepared>>;
  /** Whether tools may write to this absolute path (sandbox section 8). Does not depend on a backend. */
  isPathWritable(path: string): boolean;
  /** Notices for the person: skipped paths, running bare, and the like; each given once. */
  notices(): readonly Problem[];
}
