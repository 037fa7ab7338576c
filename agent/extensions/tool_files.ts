// Finds the tool files of a document and starts their hosts; uses the project's files only after the person agreed
// to them.

import type { Environment } from "../../base/environment.ts";
import { configFolder } from "../../base/folders.ts";
import { operands } from "../../base/shell_word.ts";
import { parentOf, resolvePath } from "../../base/paths.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { areTrusted, filesIn, type ToolFolders } from "../../config/sources/tool_folders.ts";
import { toolEnvironment } from "../../sandbox/policy/tool_environment.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { discoverFiles, type ToolFolder } from "../../tools/vellum/discover.ts";
import { Hosts } from "../../tools/vellum/hosts.ts";
import { fileSource } from "../../tools/vellum/source.ts";
import { storageFolder } from "../../tools/vellum/storage.ts";
import type { EndTools, SourcesSubject } from "./sources_subject.ts";

export interface FilesSubject {
  readonly tools: ToolRegistry;
  readonly builtin: ToolRegistry;
  readonly subject: SourcesSubject & Required<Pick<SourcesSubject, "sandbox">>;
  readonly found: ToolFolders;
  readonly warn: (problem: Problem) => void;
}

/** Adds the source of tool files; returns a function that ends their hosts. */
export async function addFiles({ tools, builtin, subject, found, warn }: FilesSubject): Promise<EndTools> {
  const { environment, sandbox, settings: { tools: settings } } = subject;
  const base = { folder: environment.cwd, home: environment.home };
  const folders: ToolFolder[] = settings.dirs.map((dir) => ({
    path: resolvePath(dir, base),
    removes: false,
  }));
  if (found.project !== null && await mayUse(found.project, { tools, subject, warn })) {
    folders.push({ path: found.project, removes: false });
  }
  if (found.user !== null) folders.push({ path: `${configFolder(environment)}/tools`, removes: true });
  makeStorage(environment, warn);
  const hosts = new Hosts({
    environment,
    sandbox,
    cwd: environment.cwd,
    env: (target) => ({
      ...toolEnvironment(environment.variables, settings.env, {
        sandboxed: sandbox.enabled,
        kept: sandbox.socketVariables?.(),
        added: sandbox.addedVariables?.(),
      }),
      VELLUM_WORKSPACE_DIR: storageFolder(environment, target),
    }),
  });
  const discovered = await discoverFiles(folders);
  // If the person removed a tool or replaced it by a file, the built-in tool is removed before any call of it can
  // run.
  const replaced = discovered.files.map(({ base: name }) => name).filter((name) =>
    settings.override.includes(name)
  );
  for (const name of [...discovered.removed, ...replaced]) builtin.unregister(name);
  tools.registerFrom(
    "file",
    fileSource({
      found: discovered,
      environment,
      hosts,
      timeout: settings.file_timeout,
      override: settings.override,
      categories: settings.allowed_categories,
      has: (name) => tools.has(name),
      warn,
      refusal: async (path) =>
        found.project === null || parentOf(path) !== found.project ||
          await isAgreed(environment, found.project)
          ? null
          : `${path}, another tool file or a file that they import is not as you trusted it, so the call did not run. ` +
            `Read them. If you trust them: flemma trust ${operands(found.project)}`,
    }),
  );
  return () => hosts.close();
}

/** Creates the folders in which tool files store their data, before the sandbox looks which paths exist. */
function makeStorage(environment: Environment, warn: (problem: Problem) => void): void {
  for (const target of ["sandbox", "host"] as const) {
    const folder = storageFolder(environment, target);
    try {
      Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (thrown) {
      warn({
        code: "tool-data",
        message: `Tool files cannot store data in ${folder}: ${thrownText(thrown)}.`,
      });
    }
  }
}

/** True if the person agreed to the files as they are now. */
async function isAgreed(environment: Environment, folder: string): Promise<boolean> {
  const names = await filesIn(folder);
  const trusted = names.ok ? await areTrusted(environment, folder, names.value) : names;
  return trusted.ok && trusted.value === true;
}

/** True if the person agreed to the project's files in their current version. If not, calls of their tools wait. */
async function mayUse(
  folder: string,
  { tools, subject, warn }: Pick<FilesSubject, "tools" | "subject" | "warn">,
): Promise<boolean> {
  const { override } = subject.settings.tools;
  const names = await filesIn(folder);
  if (!names.ok) {
    warn(names.problem);
    return false;
  }
  if (names.value.length === 0) return false;
  const trusted = await areTrusted(subject.environment, folder, names.value);
  if (!trusted.ok) warn(trusted.problem);
  if (trusted.ok && trusted.value) return true;
  const bases = new Set(names.value.map((name) => name.slice(0, name.indexOf("."))));
  tools.leaveOut(
    {
      name: `the tool files of ${folder}`,
      mayHave: (name) => bases.has(name) && (override.includes(name) || !tools.has(name)),
    },
    "they are not trusted in their current version",
  );
  warn({
    code: "project-tools-untrusted",
    message: `The tool files in ${folder} are not used: you have not trusted their current version.`,
    next: `Read them. If you trust them: flemma trust ${operands(folder)}`,
  });
  return false;
}
