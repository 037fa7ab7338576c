// Adds the tool sources that a document's settings name. Loads each only if it is configured.

import type { Problem } from "../../base/problem.ts";
import { type ToolFolders, toolFolders } from "../../config/sources/tool_folders.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import type { EndTools, SourcesSubject } from "./sources_subject.ts";

/**
 * Adds the sources that the settings name to a registry. Does not query them yet.
 *
 * @param builtin the registry with the built-in tools, from which a person may remove some
 * @param warn receives problems
 */
export async function addSources(
  tools: ToolRegistry,
  builtin: ToolRegistry,
  subject: SourcesSubject,
  warn: (problem: Problem) => void,
): Promise<EndTools> {
  const { modules, dirs } = subject.settings.tools;
  if (modules.length > 0) {
    const { moduleSource } = await import("../../tools/registration/module.ts");
    for (const path of modules) {
      tools.registerFrom("module", moduleSource(path, subject.changed?.bind(subject)));
    }
  }
  const { sandbox } = subject;
  if (sandbox === undefined) return () => Promise.resolve();
  const ends: EndTools[] = [];
  const found = filesOf(subject);
  if (dirs.length > 0 || found.user !== null || found.project !== null) {
    const { addFiles } = await import("./tool_files.ts");
    ends.push(await addFiles({ tools, builtin, subject: { ...subject, sandbox }, found, warn }));
  }
  return async () => void await Promise.all(ends.map((end) => end()));
}

function filesOf({ environment, document, searchesFiles = true }: SourcesSubject): ToolFolders {
  return searchesFiles ? toolFolders(environment, document) : { user: null, project: null };
}
