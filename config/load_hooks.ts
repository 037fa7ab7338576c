// Collects the hooks of a run: those of the person's settings, of the files that these name, and of the project.

import { MOST_OF_CODE, readRegular } from "../base/system/regular_file.ts";
import type { Environment } from "../base/environment.ts";
import { isObject } from "../base/is_object.ts";
import { sha256 } from "../base/hash.ts";
import { expandHome, isInside, parentOf, projectFolderOf } from "../base/paths.ts";
import { asSentence, failure, type Outcome, type Problem, success } from "../base/problem.ts";
import { operands } from "../base/shell_word.ts";
import { namedPaths } from "./hooks/command_words.ts";
import { type Hook, HOOK_EVENTS, type HookOrigin, type HookTable, readHooks } from "./hooks/definition.ts";
import type { LoadedHooks } from "./hooks/loaded.ts";
import { readText } from "./sources/json_file.ts";
import type { Loaded, LoadOptions, SettingsSources } from "./sources/find.ts";
import { isTrusted } from "./sources/trust.ts";
import { parseSource } from "./sources/yaml.ts";

/** The files of a project's hooks that an agreement covers. */
export interface ProjectHooks extends HookTable {
  /** Every file of the project that a hook names, and the files in `.flemma/hooks`. */
  readonly files: readonly string[];
}

/**
 * Reads all hooks. Fails with `config-invalid` if a file that `hooks.from` names is missing or broken: without it, a
 * guard would be missing.
 */
export async function loadHooks(
  { settings, placeOf }: Pick<Loaded, "settings" | "placeOf">,
  { environment, document = null }: LoadOptions,
  sources: Pick<SettingsSources, "hooks">,
): Promise<Outcome<LoadedHooks>> {
  const { hooks: own } = settings;
  const tables: HookTable[] = [];
  const files: string[] = [];
  const notices: Problem[] = [];
  for (const event of HOOK_EVENTS) {
    if (own[event] === null) continue;
    const file = placeOf(`hooks.${event}`)?.replace(/:\d+:\d+$/, "") ?? "command line";
    tables.push(readHooks({ [event]: own[event] }, { owner: "settings", file }));
  }
  for (const named of own.from) {
    const read = await readTable(expandHome(named, environment.home), "from");
    if (!read.ok) return read;
    tables.push(read.value.table);
    files.push(read.value.path);
  }
  const folder = projectFolderOf(environment, document);
  if (sources.hooks !== null) {
    files.push(sources.hooks.path);
    const project = await trustedHooks(environment, sources.hooks);
    if (!project.ok) return project;
    tables.push(project.value.table);
    notices.push(...project.value.notices);
  }
  const place = {
    home: environment.home,
    project: sources.hooks === null ? folder : parentOf(parentOf(sources.hooks.path)),
  };
  const hooks = tables.flatMap((table) => table.hooks);
  const named = new Set(hooks.flatMap(({ command }) => namedPaths(command, place).filter(isFile)));
  for (const { file, faults, warnings, unsupported } of tables) {
    if (unsupported.length > 0) {
      notices.push({
        code: "hooks-unsupported",
        message: `${file} has hooks that do not run here: ${
          unsupported.map((each) => each.place).join(", ")
        }.`,
        next: "See the reasons: flemma hooks list",
      });
    }
    for (const message of [...faults, ...warnings]) {
      notices.push({ code: "hook-invalid", message: asSentence(`${file}: ${message}`) });
    }
  }
  return success({
    hooks,
    unsupported: tables.flatMap((table) => table.unsupported),
    files: [...files, ...named],
    seals: new Map(
      await Promise.all([...named].map(async (path) => [path, await contentHash(path)] as const)),
    ),
    project: place.project,
    notices,
  });
}

/** Reads the project's hooks from the text of `.flemma/hooks.yaml`. */
export async function readProjectHooks(
  { home }: Pick<Environment, "home">,
  { path, text }: { readonly path: string; readonly text: string },
): Promise<Outcome<ProjectHooks>> {
  const parsed = await tableIn(path, text, "project");
  if (!parsed.ok) return parsed;
  const root = parentOf(parentOf(path));
  const named = parsed.value.hooks.flatMap(({ command }) => namedPaths(command, { home, project: root }));
  const files = [
    ...named.filter((file) => isInside(file, root) && isFile(file)),
    ...filesBelow(`${root}/.flemma/hooks`),
  ];
  const { file, hooks, unsupported, faults, warnings } = parsed.value;
  return success({
    file,
    hooks,
    unsupported,
    faults,
    warnings,
    files: [...new Set(files)].sort(),
  });
}

/** Returns the project's hooks. Until the person trusts the file, none runs, and the calls that they match wait. */
async function trustedHooks(
  environment: Environment,
  file: { readonly path: string; readonly text: string },
): Promise<Outcome<{ readonly table: HookTable; readonly notices: readonly Problem[] }>> {
  const path = realPathOr(file.path);
  const read = await readProjectHooks(environment, { ...file, path });
  if (!read.ok) return read;
  const trusted = await isTrusted(environment, path, file.text, { data: read.value.files });
  if (!trusted.ok) return trusted;
  if (trusted.value) return success({ table: read.value, notices: [] });
  const fault = `${file.path} is not trusted in its current version`;
  const notice: Problem = {
    code: "hooks-untrusted",
    message:
      `The hooks of ${file.path} are not trusted in their current version, so they do not run, and the calls ` +
      "that they match wait for you.",
    next: `Read the file. If you trust it: flemma trust ${operands(file.path)}`,
  };
  const table: HookTable = {
    ...read.value,
    hooks: read.value.hooks.map((hook): Hook => ({ ...hook, fault })),
  };
  return success({ table, notices: [notice] });
}

/** Reads a file that the settings name; it must exist. */
async function readTable(
  path: string,
  owner: HookOrigin["owner"],
): Promise<Outcome<{ readonly table: HookTable; readonly path: string }>> {
  if (!path.startsWith("/")) {
    return invalid(`hooks.from: ${path} must begin with / or ~/`, "Write the whole path of the file.");
  }
  const text = readText(path, { named: true });
  if (!text.ok) return text;
  if (text.value === null) {
    return invalid(`hooks.from: there is no file ${path}`, "Correct hooks.from, or remove the entry.");
  }
  const table = await tableIn(path, text.value, owner);
  return table.ok ? success({ table: table.value, path }) : table;
}

/** Reads the member `hooks` of a file. */
async function tableIn(path: string, text: string, owner: HookOrigin["owner"]): Promise<Outcome<HookTable>> {
  const parsed = await parseSource(text);
  if (!parsed.ok) {
    const lines = parsed.problem.map(({ place, message }) => `${path}:${place}: ${message}`);
    return failure("config-invalid", lines.join("\n"), "Correct the file, which defines hooks.");
  }
  const { value } = parsed.value;
  if (value !== null && value !== undefined && !isObject(value)) {
    return invalid(`${path}: the file must be a table with the member hooks`, "Correct the file.");
  }
  return success(readHooks(isObject(value) ? value.hooks : undefined, { owner, file: path }));
}

function invalid(message: string, next: string): Outcome<never> {
  return failure("config-invalid", asSentence(message), next);
}

/** SHA-256 of a file; empty if it cannot be read. */
export async function contentHash(path: string): Promise<string> {
  try {
    return await sha256(await readRegular(path, MOST_OF_CODE));
  } catch {
    // A file that cannot be read has no content that could be compared; it counts as changed once it can be read.
    return "";
  }
}

function filesBelow(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].flatMap(({ name, isFile, isDirectory }) =>
      isDirectory ? filesBelow(`${folder}/${name}`) : isFile ? [`${folder}/${name}`] : []
    );
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) return [];
    throw thrown;
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function realPathOr(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}
