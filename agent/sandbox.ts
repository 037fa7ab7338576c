// The sandbox that a document's tools run in: made in one place, so that no command forgets what it protects.

import type { Environment } from "../base/environment.ts";
import { runtimeFolder, stateFolder } from "../base/folders.ts";
import { createSandbox, type RunSandbox } from "../sandbox/mod.ts";
import type { SubjectSettings } from "./settings.ts";

/** The sandbox of a document (null: of the folder) under its settings. */
export function sandboxOf(
  environment: Environment,
  path: string | null,
  { settings, loaded: { files } }: SubjectSettings,
  more: { readonly lookAnew?: boolean } = {},
): RunSandbox {
  const protect = protectedPaths({ environment, document: path, configFiles: files });
  return createSandbox({ settings: settings.sandbox, environment, document: path, protect, ...more });
}

/** What stays read-only for tools even where its folder is writable: document, configuration, state. */
export function protectedPaths(input: {
  readonly environment: Environment;
  /** Absolute path, or null when unsaved. */
  readonly document: string | null;
  readonly configFiles: readonly string[];
}): string[] {
  const paths = [
    ...(input.document === null ? [] : [input.document]),
    ...input.configFiles,
    stateFolder(input.environment),
    runtimeFolder(input.environment),
  ];
  return [...new Set(paths)];
}
