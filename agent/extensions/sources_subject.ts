// Identifies a document whose tools to find, and how to end what was started for them.

import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Sandbox } from "../../sandbox/types.ts";

export interface SourcesSubject {
  readonly settings: Settings;
  readonly environment: Environment;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  /** The sandbox for programs. Without one, no program is started, and there are no tool files. */
  readonly sandbox?: Sandbox;
  /** True to search for tool files that nobody named. @default true */
  readonly searchesFiles?: boolean;
  /** False if no run can own background jobs. @default true */
  readonly jobs?: boolean;
  /** Returns why the code of a module of the settings must not run, as a sentence; null if it may run. */
  changed?(path: string): Promise<string | null>;
  /** Sends the HTTP requests to MCP servers. @default a fetch that follows the environment variables */
  readonly fetch?: typeof fetch;
}

export type EndTools = () => Promise<void>;
