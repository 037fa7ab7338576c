// Where the tools of a document come from beside this program, by its settings. Each is loaded only where it is configured.

import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.ts";
import type { ToolSource } from "../../tools/registration/types.ts";

/** Whose sources are meant. */
export interface SourcesSubject {
  readonly settings: Settings;
  readonly environment: Environment;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
}

/** The sources that the settings name, in the order in which they are asked. Nothing is asked yet. */
export async function configuredSources({ settings }: SourcesSubject): Promise<readonly ToolSource[]> {
  const { modules } = settings.tools;
  if (modules.length === 0) return [];
  const { moduleSource } = await import("../../tools/registration/module.ts");
  return modules.map(moduleSource);
}
