// The effective settings of one document, made from every layer, including the document's frontmatter.

import type { Environment } from "../base/environment.ts";
import { documentSettings } from "../config/frontmatter.ts";
import { loadSettingsLayers } from "../config/load.ts";
import { BUILTIN_CATALOG, type Catalog, type ToolFact } from "../config/schema/catalog.ts";
import type { DocumentSettings } from "../config/document/first_block.ts";
import { findSources, type Loaded, type SettingsSources } from "../config/sources/find.ts";
import { toolFolders } from "../config/sources/tool_folders.ts";
import { type Outcome, success } from "../base/problem.ts";
import type { SandboxSettings, Settings } from "../config/settings.generated.ts";
import type { Chat, Frontmatter, Preamble } from "../parser/types.ts";
import type { EvaluatedFrontmatter } from "../prompt/evaluate.ts";
import type { ReadPolicy } from "../prompt/file_log.ts";
import type { PersonalityFacts } from "../prompt/types.ts";
import type { PathContext, Sandbox } from "../sandbox/mod.ts";
import { visible } from "../base/visible.ts";
import { processTools } from "../tools/registry.ts";
import type { ChatOptions, OwnTools } from "./types.ts";

export type SettingsHost = Pick<ChatOptions, "settings" | "tools" | "print"> & {
  readonly environment: Environment;
};

/** The parts of a document that affect settings. */
export interface Blocks {
  readonly frontmatter: Frontmatter | null;
  /** The text before the first message, apart from the frontmatter. */
  readonly preamble: Preamble | null;
}

export interface SettingsSubject extends Blocks {
  /** Absolute path, or null when unsaved. */
  readonly path: string | null;
}

/** Finds the parts of a document that affect settings; both are null without a document. */
export function blocksOf(chat: Pick<Chat, "frontmatter" | "preamble"> | null): Blocks {
  return { frontmatter: chat?.frontmatter ?? null, preamble: chat?.preamble ?? null };
}

/** True if two versions of a document have the same settings. */
export function haveSameSettings(a: Blocks, b: Blocks): boolean {
  return a.frontmatter?.language === b.frontmatter?.language && a.frontmatter?.code === b.frontmatter?.code &&
    a.preamble?.text === b.preamble?.text;
}

export interface SubjectSettings extends DocumentSettings {
  /** The settings of the person and the project, without the document's own. */
  readonly loaded: Loaded;
  /** The environment, with the working folder that the frontmatter names, if it takes effect. */
  readonly environment: Environment;
  /** A working folder that takes effect only once the person trusts the document; null if there is none. */
  readonly awaitedFolder: string | null;
  /**
   * Prepares the frontmatter for sending: its findings, its variables, and the Lua session that ran it. The system
   * prompts of personalities are made from `facts`, which diagnosing a document does not need.
   */
  evaluated(facts?: PersonalityFacts): Promise<EvaluatedFrontmatter>;
}

/**
 * Loads the settings and evaluates the frontmatter once, for everything in a run. Fails with what is wrong in a
 * settings file or option. Faults in the frontmatter are diagnostics. After an error among them, no call may be
 * decided or run.
 */
export async function subjectSettings(
  { environment: { workFolder: _ofAnother, projectFolder: _too, ...environment }, ...given }: SettingsHost,
  subject: SettingsSubject,
  sources?: SettingsSources,
): Promise<Outcome<SubjectSettings>> {
  const { host, settings } = await withModelsProvider({ ...given, environment }, subject, sources);
  const { frontmatter, path } = subject;
  if (!settings.ok || frontmatter === null || settings.value.settings.cwd === null) return settings;
  const { findWorkFolder, withRealFolder, wrongFolder } = await import("../config/document/work_folder.ts");
  const blocked = ({ evaluated, ...document }: SubjectSettings, wrong: string) => {
    const diagnostics = [...document.diagnostics, wrongFolder(wrong, frontmatter)];
    return success({
      ...document,
      diagnostics,
      evaluated: async (facts?: PersonalityFacts) => ({ ...await evaluated(facts), diagnostics }),
    });
  };
  const found = await findWorkFolder({ environment, path, frontmatter, document: settings.value });
  if ("wrong" in found) return blocked(settings.value, found.wrong);
  if (found.found === null) return settings;
  const { folder, waits } = found.found;
  if (waits) {
    return success({ ...settings.value, ...withRealFolder(settings.value, folder), awaitedFolder: folder });
  }
  // The other project may have other settings. The frontmatter has already printed its lines.
  let isSilent = true;
  const print = (line: string) => isSilent ? undefined : host.print?.(line);
  const { worktreeAt } = await import("../config/document/worktrees.ts");
  const projectFolder = worktreeAt(environment, folder)?.project;
  const place = { workFolder: folder, ...(projectFolder === undefined ? {} : { projectFolder }) };
  const there = { ...host, print, environment: { ...environment, ...place } };
  const again = await settingsIn(there, subject);
  isSilent = false;
  if (!again.ok) return again;
  return again.value.settings.cwd === settings.value.settings.cwd
    ? success({ ...again.value, ...withRealFolder(again.value, folder) })
    : blocked(again.value, "must not depend on other settings");
}

/**
 * Loads the settings. If the command line or the host names a model but no provider, and the provider of the settings
 * does not have that model, the settings are loaded with the provider that has it.
 */
async function withModelsProvider(
  host: SettingsHost,
  subject: SettingsSubject,
  sources: SettingsSources | undefined,
): Promise<{ readonly host: SettingsHost; readonly settings: Outcome<SubjectSettings> }> {
  const settings = await settingsIn(host, subject, sources);
  const { overrides = {}, preset } = host.settings ?? {};
  const isOpen = typeof overrides.model === "string" && overrides.provider === undefined &&
    preset === undefined;
  if (!isOpen || !settings.ok || settings.value.settings.model !== overrides.model) return { host, settings };
  const { providerOfModel } = await import("../providers/keys/provider_of_model.ts");
  const choice = providerOfModel(settings.value.settings, host.environment.variables);
  if (choice === null) return { host, settings };
  // The frontmatter has already printed its lines.
  const chosen = { ...host, settings: { ...host.settings, overrides: { ...overrides, ...choice } } };
  const again = await settingsIn({ ...chosen, print: undefined }, subject);
  if (!again.ok) return { host, settings: again };
  const { model, provider } = again.value.settings;
  const message =
    `${model} is a model of ${provider}, so ${provider} is used instead of ${settings.value.settings.provider}.`;
  const notices = [...again.value.loaded.notices, { code: "provider-of-model", message }];
  const value = { ...again.value, loaded: { ...again.value.loaded, notices } };
  return { host: chosen, settings: success(value) };
}

/** Loads the settings with the working folder of the environment. */
async function settingsIn(
  host: SettingsHost,
  { path, frontmatter, preamble }: SettingsSubject,
  sources?: SettingsSources,
): Promise<Outcome<SubjectSettings>> {
  const { environment } = host;
  const loaded = await withoutDocument(host, path, sources);
  if (!loaded.ok) return loaded;
  const policy = new ReadPolicyOf(environment, path);
  // The frontmatter reads files under the person's policy. Everything after it also reads under the document's policy.
  policy.follow(loaded.value.settings.sandbox);
  const start = () => startLua(host, path, loaded.value.settings, policy.isReadable);
  if (frontmatter !== null) await policy.ready();
  // Only Lua frontmatter needs the Lua session before anything is sent.
  const lua = frontmatter === null ? null : await start();
  const reserved = frontmatter === null
    ? undefined
    : (await import("../config/document/reserved.ts")).BUILTIN_NAMES;
  const written = await documentSettings({
    loaded: loaded.value,
    frontmatter,
    preamble,
    runLua: lua?.run,
    reserved,
  });
  const document = await keepHidden(written, loaded.value.settings, {
    environment,
    document: path,
    block: frontmatter,
  });
  policy.follow(document.settings.sandbox);
  const { variables, diagnostics } = document;
  const evaluated = async (facts?: PersonalityFacts) => {
    const session = lua ?? await start();
    if (facts !== undefined) session.generated.tell(facts);
    const ready = () => policy.ready();
    return { variables, diagnostics, lua: session, isReadable: policy.isReadable, ready };
  };
  return success({ ...document, loaded: loaded.value, environment, awaitedFolder: null, evaluated });
}

/** Loads the settings of the person and the project. */
async function withoutDocument(
  host: SettingsHost,
  path: string | null,
  sources?: SettingsSources,
): Promise<Outcome<Loaded>> {
  const { environment } = host;
  const found = host.settings?.noConfig === true
    ? { user: null, project: null }
    : toolFolders(environment, path);
  const catalog = catalogOf(host.tools, found.user !== null || found.project !== null);
  const subject = { environment, document: path, catalog, sources, toolFolders: found };
  return await loadSettingsLayers({ ...host.settings, ...subject });
}

/**
 * Finds the folder of a document's lock before the document is opened, and the settings files that were read for that.
 * Only the person and a host can set the folder. Mistakes in the settings are reported when the run loads them.
 */
export async function lockPlaceOf(
  host: SettingsHost,
  path: string,
): Promise<{ readonly place: Settings["lock"]["place"]; readonly sources?: SettingsSources }> {
  const { settings, environment } = host;
  const found = findSources({ ...settings, environment, document: path });
  if (!found.ok) return { place: "state" };
  const sources = found.value;
  // Loading the settings takes longer than searching their text for "lock", and hardly anybody uses that setting.
  const mayMoveLock = sources.global?.text.includes("lock") === true ||
    settings?.overrides?.lock !== undefined;
  const loaded = mayMoveLock ? await withoutDocument(host, path, sources) : null;
  return { place: loaded?.ok ? loaded.value.settings.lock.place : "state", sources };
}

/** Returns the tool names that settings may use: built-in tools, those of this process, those of the host. */
function catalogOf(own: readonly OwnTools[] = [], mayHaveMore: boolean): Catalog {
  const process = processTools.getAll({ includeDisabled: true });
  const tools = new Map<string, ToolFact>(BUILTIN_CATALOG.tools.map((tool) => [tool.name, tool]));
  for (const given of [...process, ...own]) {
    if (typeof given !== "object" || "resolve" in given) continue;
    const { name, enabled } = given;
    // If a function of the settings decides whether the tool is enabled, it is called later, once the settings are
    // loaded.
    tools.set(name, { name, enabled: typeof enabled === "function" ? false : enabled });
  }
  const open = mayHaveMore || own.some((given) => typeof given !== "object" || "resolve" in given) ||
    processTools.sources().length > 0;
  return { ...BUILTIN_CATALOG, tools: [...tools.values()], open };
}

/** Removes a writable path of the document, with a warning, if it would uncover files that the person hides. */
async function keepHidden(
  written: DocumentSettings,
  person: Settings,
  { block, ...place }: PathContext & { readonly block: Frontmatter | null },
): Promise<DocumentSettings> {
  if (block === null || (person.sandbox.policy.deny_read ?? []).length === 0) return written;
  const { stillHidden } = await import("../sandbox/mod.ts");
  const { settings: sandbox, uncovering } = stillHidden(person.sandbox, written.settings.sandbox, place);
  const warnings = uncovering.map((entry): DocumentSettings["diagnostics"][number] => ({
    code: "config_ignored_value",
    type: "config",
    severity: "warning",
    message:
      `"sandbox.policy.rw_paths" names ${entry}, which your settings hide. A document cannot make it visible.`,
    key: "sandbox.policy.rw_paths",
    start: block.start,
    end: block.end,
  }));
  return {
    ...written,
    settings: { ...written.settings, sandbox },
    diagnostics: [...written.diagnostics, ...warnings],
  };
}

/** Decides which files a document may include. The sandbox policy must not hide such a file. */
class ReadPolicyOf {
  readonly #environment: Environment;
  readonly #document: string | null;
  /** The person's sandbox, and after it the document's. A file is hidden if either of them hides it. */
  readonly #sandboxes: Sandbox[] = [];
  readonly #waiting: SandboxSettings[] = [];

  constructor(environment: Environment, document: string | null) {
    this.#environment = environment;
    this.#document = document;
  }

  /** Applies these settings too, from the next `ready` on. */
  follow(settings: SandboxSettings): void {
    if (settings.enabled) this.#waiting.push(settings);
  }

  /**
   * Loads the sandbox. Callers must await this before they read anything. It is loaded only here, because most
   * documents read no file.
   */
  async ready(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const { createSandbox } = await import("../sandbox/mod.ts");
    const place = { environment: this.#environment, document: this.#document, protect: [] };
    this.#sandboxes.push(...this.#waiting.splice(0).map((settings) => createSandbox({ settings, ...place })));
  }

  /** @throws if called before `ready`: an unknown policy must not count as permission. */
  readonly isReadable: ReadPolicy = (path) => {
    if (this.#waiting.length > 0) throw new Error("the read policy was used before it was ready");
    return this.#sandboxes.every((sandbox) => sandbox.isPathReadable(path));
  };
}

/** Returns whether a file is one in which people keep secrets. Only files outside the project can be. */
export async function secretPaths(
  environment: Environment,
  { instructions: { imports } }: Pick<Settings, "instructions">,
): Promise<(real: string) => boolean> {
  if (imports === "off" || imports === "project") return () => false;
  const [{ SECRET_PATHS }, { expandPath }, { isInside, realPath }] = await Promise.all([
    import("../sandbox/policy/secrets.ts"),
    import("../sandbox/paths/expand.ts"),
    import("../sandbox/mod.ts"),
  ]);
  const folders = SECRET_PATHS.flatMap((path) => {
    const expanded = expandPath(path, { environment, document: null });
    return expanded.kind === "path" ? [expanded.path, realPath(expanded.path, "/") ?? expanded.path] : [];
  });
  return (real) => folders.some((folder) => isInside(real, folder));
}

async function startLua(
  { environment, print }: SettingsHost,
  document: string | null,
  settings: Settings,
  isReadable: ReadPolicy,
) {
  const [{ luaSession }, { luaLimits }] = await Promise.all([
    import("../prompt/template/document_lua.ts"),
    import("../config/document/lua_limits.ts"),
  ]);
  const limits = luaLimits(settings.frontmatter);
  return luaSession({
    document,
    environment,
    limits,
    isReadable,
    imports: { from: settings.instructions.imports, isSecret: await secretPaths(environment, settings) },
    print: (line) => print?.(visible(line, { lines: true })),
  });
}
