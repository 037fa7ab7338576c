// Whose tools are looked for, and how what was started for them ends.

import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.ts";
import type { Sandbox } from "../../sandbox/types.ts";

/** Whose sources are meant. */
export interface SourcesSubject {
  readonly settings: Settings;
  readonly environment: Environment;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  /** The wall that what is started stands behind; left out, nothing is started: there are no tool files. */
  readonly sandbox?: Sandbox;
  /** Whether files that nobody named are looked for. @default true */
  readonly searchesFiles?: boolean;
  /** How servers over HTTP are asked. @default by the variables of the environment */
  readonly fetch?: typeof fetch;
}

/** Ends what was started for tools. */
export type EndTools = () => Promise<void>;
