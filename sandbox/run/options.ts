// Options for creating the sandbox of a run.

import type { Environment } from "../../base/environment.ts";
import type { Problem } from "../../base/problem.ts";
import type { SandboxSettings } from "../../config/settings.generated.ts";
import type { BackendRegistry } from "../backends/registry.ts";
import type { RunningProgram } from "../protect/own_code.ts";

/** Options of `createSandbox`. */
export interface SandboxOptions {
  /** The sandbox settings: what commands are allowed to do. */
  readonly settings: SandboxSettings;
  /** Working directory, home folder and environment variables. */
  readonly environment: Environment;
  /** Path of the document, or null if it is unsaved. */
  readonly document: string | null;
  /** Paths that nothing inside the sandbox may change: document, settings, state. They need not exist. */
  readonly protect: readonly string[];
  /** The backends to choose from. @default the registry of this process */
  readonly registry?: BackendRegistry;
  /** Called before the first command starts, and after the last one ended and its leftovers are repaired. */
  readonly around?: CommandsWatch;
  /**
   * True to ignore cached results about the backends, for diagnosing a problem.
   * @default false
   */
  readonly ignoreCache?: boolean;
  /** The program whose own code is protected. @default the running program */
  readonly running?: RunningProgram;
  /** Returns the paths of sockets that programs listen on now. @default what the kernel reports */
  readonly listening?: () => readonly string[];
}

/** Callbacks around the time in which commands live. */
export interface CommandsWatch {
  /**
   * Called before a command, also while others live. A returned problem keeps the command from starting.
   *
   * @param reaches true if the sandbox does not keep commands from writing the document
   */
  begin(reaches?: boolean): Promise<Problem | null>;
  /** Called after the last command ended. */
  end(): Promise<void>;
}
