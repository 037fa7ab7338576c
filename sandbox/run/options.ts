// What the sandbox of a run is made of.

import type { Environment } from "../../base/environment.ts";
import type { Problem } from "../../base/problem.ts";
import type { SandboxSettings } from "../../config/settings/sandbox.ts";
import type { BackendRegistry } from "../backends/registry.ts";
import type { RunningProgram } from "../protect/own_code.ts";

/** What a sandbox is made of. */
export interface SandboxOptions {
  /** What is allowed inside. */
  readonly settings: SandboxSettings;
  /** Directory, home and variables. */
  readonly environment: Environment;
  /** Path of the document, or null when it is unsaved. */
  readonly document: string | null;
  /** Paths nobody inside may change: document, settings, state. They need not exist. */
  readonly protect: readonly string[];
  /** The backends to choose from. @default the registry of this process */
  readonly registry?: BackendRegistry;
  /** Told before the first command begins to live, and when the last one is over and what it left was put right. */
  readonly around?: CommandsWatch;
  /**
   * Whether what earlier runs found out about the backends is left aside: for who asks because something is wrong.
   * @default false
   */
  readonly ignoreCache?: boolean;
  /** What is protected as the program's own code. @default the program that runs now */
  readonly running?: RunningProgram;
}

/** Whoever has to know when commands live. */
export interface CommandsWatch {
  /** Before a command; may be called again while commands live. A problem keeps the command from starting. */
  begin(): Promise<Problem | null>;
  /** When the last one is over. */
  end(): Promise<void>;
}
