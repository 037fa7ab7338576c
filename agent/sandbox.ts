// Creates the sandbox of a document's tools, in one place, so that no command forgets a protected path.

import type { Environment } from "../base/environment.ts";
import { runtimeFolder, stateFolder } from "../base/folders.ts";
import { callerOf, helperFolderOf, projectFolderOf, resolvePath } from "../base/paths.ts";
import { lockBeside } from "../cycle/storage/lock.ts";
import { createSandbox, type RunSandbox, type SandboxOptions } from "../sandbox/mod.ts";
import { protectedSkillFolders } from "../tools/skills/protected_folders.ts";
import type { SubjectSettings } from "./settings.ts";

/** A document's real path, and the path by which it was opened; both null for a folder without a document. */
export interface DocumentPaths {
  readonly path: string | null;
  /** Path by which the document was opened. @default `path` */
  readonly named?: string | null;
}

/** Creates the sandbox of a document, or of the working folder if `path` is null. */
export function sandboxOf(
  environment: Environment,
  paths: DocumentPaths,
  subject: Pick<SubjectSettings, "settings" | "loaded">,
  more: Pick<SandboxOptions, "ignoreCache" | "around"> = {},
): RunSandbox {
  return createSandbox({ ...sandboxOptionsOf(environment, paths, subject), ...more });
}

/** The options for the sandbox of a document, or of the working folder if `path` is null. */
export function sandboxOptionsOf(
  environment: Environment,
  { path, named = path }: DocumentPaths,
  { settings, loaded: { files, code } }: Pick<SubjectSettings, "settings" | "loaded">,
): SandboxOptions {
  const documents = [path, named].filter((each) => each !== null).flatMap(treeOf);
  // The lock is protected, because a command that removes it would let a second run in.
  const locks = path !== null && settings.lock.place === "beside" ? [lockBeside(path)] : [];
  const { enabled, dirs } = settings.skills;
  // These folders are protected, because a command could add a tool file to them, or change one.
  const base = { folder: environment.cwd, home: environment.home };
  const toolFolders = settings.tools.dirs.map((dir) => resolvePath(dir, base));
  const folder = projectFolderOf(environment, path);
  const skills = enabled ? protectedSkillFolders({ environment, folder, dirs }) : [];
  const protect = ownProtectedPaths({
    environment,
    documents,
    configFiles: [...files, ...code, ...toolFolders, ...skills, ...locks],
  });
  return { settings: settings.sandbox, environment, document: path, protect };
}

/** Returns a document with the folder of its helpers, and if it is a helper itself, those that called it. */
function treeOf(document: string): string[] {
  if (!document.endsWith(".chat")) return [document];
  const caller = callerOf(document);
  return [document, helperFolderOf(document), ...caller === null ? [] : treeOf(caller)];
}

/** Returns paths that stay read-only for tools even in a writable folder: the document, configuration and state. */
export function ownProtectedPaths(input: {
  readonly environment: Environment;
  /** Absolute paths of the document, including links to it, because replacing a link replaces the document. */
  readonly documents: readonly string[];
  readonly configFiles: readonly string[];
}): string[] {
  const paths = [
    ...input.documents,
    ...input.configFiles,
    stateFolder(input.environment),
    runtimeFolder(input.environment),
  ];
  return [...new Set(paths)];
}
