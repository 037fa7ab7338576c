// The sandbox that a document's tools run in: made in one place, so that no command forgets what it protects.

import { protectedPaths } from "../cycle/storage/state_files.ts";
import { createSandbox, type RunSandbox } from "../sandbox/mod.ts";
import type { SubjectSettings } from "./document_settings.ts";
import type { Invocation } from "./invocation.ts";

/** The sandbox of a document (null: of the folder) under its settings. */
export function sandboxOf(
  { environment }: Invocation,
  path: string | null,
  { settings, loaded: { files } }: SubjectSettings,
): RunSandbox {
  const protect = protectedPaths({ environment, document: path, configFiles: files });
  return createSandbox({ settings: settings.sandbox, environment, document: path, protect });
}
