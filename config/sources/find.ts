// Search for the settings files of each layer, and their unparsed texts.

import type { Catalog } from "../schema/catalog.ts";
import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { configFolder, sessionFolder } from "../../base/folders.ts";
import { projectFolderOf } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { LayerLog } from "../layers/log.ts";
import type { LoadedHooks } from "../hooks/loaded.ts";
import type { Settings } from "../settings.generated.ts";
import { operands } from "../../base/shell_word.ts";
import { readText } from "./json_file.ts";
import type { McpFile } from "./mcp_file.ts";
import type { ToolFolders } from "./tool_folders.ts";

/** Settings that override the settings files, given as a value. */
export interface SettingsOverrides {
  /** A settings file instead of the person's; it must exist. @default the person's own */
  readonly configPath?: string;
  /** Read no file at all: neither the person's nor the project's nor the session's. @default false */
  readonly noConfig?: boolean;
  /** Settings, in the shape of a settings file. @default none */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** The preset to switch to for this run; `overrides` take precedence over it. @default none */
  readonly preset?: string;
  /** Tool names approved for this run only, in addition to the policy. @default none */
  readonly approve?: readonly string[];
}

/** The document and the environment whose settings are loaded. */
export interface SettingsOptions extends SettingsOverrides {
  /** Working folder, home and variables, which determine the files. */
  readonly environment: Environment;
  /** Absolute path of the document, or null if unsaved. Its folder determines the project file. @default null */
  readonly document?: string | null;
}

export interface LoadOptions extends SettingsOptions {
  /** Registered names. @default the built-in tools */
  readonly catalog?: Catalog;
  /** @default now */
  readonly now?: Date;
  /** The folders of tool files, if already found. @default those of the document */
  readonly toolFolders?: ToolFolders;
  /** The files of all layers, if already read. @default they are searched for */
  readonly sources?: SettingsSources;
}

/** Loaded settings without those of a document, and the origin of each. */
export interface LoadedSettings {
  /** The effective settings. */
  readonly settings: Settings;
  /** Settings files that were read; tools cannot access them. */
  readonly files: readonly string[];
  /**
   * Files of code that this program or its tool hosts load: modules, tool files, and what these import by path. These
   * files are protected like the settings files that name them.
   */
  readonly code: readonly string[];
  /** Modules of the settings, and the hash of their code when the settings were read; null if it was unreadable. */
  readonly seals: ReadonlyMap<string, string | null>;
  /** Folder of the project whose settings were read; null if none were. */
  readonly project: string | null;
  /** Messages to show once: project settings without effect, unknown presets. */
  readonly notices: readonly Problem[];
  /** Findings that only `config check` shows, one full line each. */
  readonly warnings: readonly string[];
  /** Returns the layer that a key's value comes from, e.g. `tools.auto_approve` → `global file`. */
  origin(key: string): string;
}

export interface Loaded extends LoadedSettings {
  /** The hooks; null if there are none. */
  readonly hooks: LoadedHooks | null;
  /** All layers except the defaults, in ascending order of precedence. */
  readonly logs: readonly LayerLog[];
  readonly catalog: Catalog;
  /** Returns `FILE:LINE:COL` of the key or its item in a settings file; null if no file contains it. */
  placeOf(key: string, item?: unknown): string | null;
}

/** The files found for each layer, not yet parsed. */
export interface SettingsSources {
  readonly global: { readonly path: string; readonly text: string } | null;
  readonly project: { readonly path: string; readonly text: string } | null;
  /** MCP servers from the project. */
  readonly mcp: McpFile | null;
  readonly session: boolean;
  /** Hooks of the project. */
  readonly hooks: { readonly path: string; readonly text: string } | null;
  /** Files that look like settings but are not read, each with the file that is read instead. */
  readonly unread: readonly UnreadFile[];
}

export interface UnreadFile {
  readonly path: string;
  readonly read: string;
}

/** Names of the person's settings file. If several exist, the first one in this order is read. */
const GLOBAL_NAMES = ["config.yaml", "config.yml", "config.json"];
/** The only name of a project's settings file. */
const PROJECT_NAME = "config.yaml";
/** The file of a project's hooks, next to its settings file. */
const HOOKS_NAME = "hooks.yaml";
/** Names that people may give a settings file, but that are not read. */
const OTHER_NAMES = ["config", "settings", "flemma"].flatMap((name) =>
  ["yaml", "yml", "json", "toml", "lua"].map((ending) => `${name}.${ending}`)
);

export function findSources(options: LoadOptions): Outcome<SettingsSources> {
  if (options.sources !== undefined) return success(options.sources);
  if (options.noConfig) {
    return success({ global: null, project: null, mcp: null, session: false, hooks: null, unread: [] });
  }
  const global = findGlobal(options);
  if (!global.ok) return global;
  const folder = projectFolderOf(options.environment, options.document ?? null);
  const project = findProject(options.environment, folder);
  if (!project.ok) return project;
  const mcp = findMcp(options.environment, folder);
  if (!mcp.ok) return mcp;
  const session = mayBeThere(sessionFolder(options.environment).path);
  return success({
    global: global.value.source,
    project: project.value.source,
    mcp: mcp.value,
    session,
    hooks: project.value.hooks,
    unread: [...global.value.unread, ...project.value.unread],
  });
}

/** The settings file of a layer, and other files in its folder that only look like one. */
interface Found {
  readonly source: { readonly path: string; readonly text: string } | null;
  readonly unread: readonly UnreadFile[];
}

interface FoundProject extends Found {
  readonly hooks: { readonly path: string; readonly text: string } | null;
}

function findGlobal(options: LoadOptions): Outcome<Found> {
  const { variables, cwd } = options.environment;
  const named = options.configPath ?? (variables.FLEMMA_CONFIG || undefined);
  if (named !== undefined) {
    const path = named.startsWith("/") ? named : `${cwd}/${named}`;
    const text = readIfThere(path, { named: true });
    if (text.ok && text.value === null) {
      return failure(
        "config-missing",
        `There is no settings file ${named}.`,
        "Check --config and FLEMMA_CONFIG, or use --no-config.",
      );
    }
    return text.ok ? success({ source: { path, text: text.value! }, unread: [] }) : text;
  }
  if (variables.FLEMMA_CONFIG === "") return success({ source: null, unread: [] });
  const folder = configFolder(options.environment);
  // If the folder is missing, one access is enough to show whether it is missing or inaccessible. Each access slows
  // every start.
  const names = mayBeThere(folder) ? GLOBAL_NAMES : GLOBAL_NAMES.slice(0, 1);
  for (const [index, name] of names.entries()) {
    const path = `${folder}/${name}`;
    const text = readIfThere(path);
    if (!text.ok) return text;
    if (text.value === null) continue;
    return success({
      source: { path, text: text.value },
      unread: besides(folder, GLOBAL_NAMES.slice(0, index + 1), path),
    });
  }
  const [other] = besides(folder, GLOBAL_NAMES, `${folder}/${GLOBAL_NAMES[0]}`);
  return other === undefined ? success({ source: null, unread: [] }) : notRead(other);
}

/**
 * Finds the project file of a folder: the first `.flemma/config.yaml` in it or its parents, up to the home folder or a
 * repository root, whichever comes first.
 */
function findProject(environment: Environment, folder: string): Outcome<FoundProject> {
  for (let at = folder.replace(/\/+$/, "");; at = at.slice(0, at.lastIndexOf("/"))) {
    const found = mayBeThere(`${at}/.flemma`) ? projectIn(`${at}/.flemma`) : null;
    if (found !== null && !(found.ok && found.value.source === null && found.value.hooks === null)) {
      return found;
    }
    if (at === "" || at === environment.home.replace(/\/+$/, "") || isThere(`${at}/.git`)) {
      return success({ source: null, hooks: null, unread: [] });
    }
  }
}

/** Finds the first `.mcp.json` upwards to the home folder or a repository root, whichever comes first. */
function findMcp(environment: Environment, folder: string): Outcome<McpFile | null> {
  for (let at = folder.replace(/\/+$/, "");; at = at.slice(0, at.lastIndexOf("/"))) {
    const path = `${at}/.mcp.json`;
    if (mayBeThere(path)) {
      const text = readIfThere(path);
      if (!text.ok) return text;
      if (text.value !== null) return success({ path, text: text.value });
    }
    if (at === "" || at === environment.home.replace(/\/+$/, "") || isThere(`${at}/.git`)) {
      return success(null);
    }
  }
}

/** True if the path exists, or cannot be checked. In the second case, reading the path reports the reason. */
function mayBeThere(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    return true;
  }
}

function projectIn(folder: string): Outcome<FoundProject> {
  const path = `${folder}/${PROJECT_NAME}`;
  const text = readIfThere(path);
  if (!text.ok) return text;
  const names = namesIn(folder);
  const hooksPath = `${folder}/${HOOKS_NAME}`;
  const hooksText = names.has(HOOKS_NAME) ? readIfThere(hooksPath) : success(null);
  if (!hooksText.ok) return hooksText;
  const hooks = hooksText.value === null ? null : { path: hooksPath, text: hooksText.value };
  const unread = besides(folder, [PROJECT_NAME], path, names);
  if (text.value !== null) return success({ source: { path, text: text.value }, hooks, unread });
  return unread.length > 0 ? notRead(unread[0]!) : success({ source: null, hooks, unread });
}

/**
 * Returns files of the folder that look like settings, except the given names; `read` is the settings file that is read
 * instead of them.
 */
function besides(
  folder: string,
  names: readonly string[],
  read: string,
  there: ReadonlySet<string> = namesIn(folder),
): UnreadFile[] {
  return OTHER_NAMES.filter((name) => there.has(name) && !names.includes(name))
    .map((name) => ({ path: `${folder}/${name}`, read }));
}

/** Returns the names in a folder; empty if it is missing or unreadable, because there is nothing to report then. */
function namesIn(folder: string): ReadonlySet<string> {
  try {
    return new Set([...Deno.readDirSync(folder)].map(({ name }) => name));
  } catch (thrown) {
    const { NotFound, NotADirectory, PermissionDenied } = Deno.errors;
    if ([NotFound, NotADirectory, PermissionDenied].some((kind) => thrown instanceof kind)) return new Set();
    throw thrown;
  }
}

/** Fails if the only settings file has a wrong name: its content would have no effect. */
function notRead({ path, read }: UnreadFile): { readonly ok: false; readonly problem: Problem } {
  const asItIs = /\.(?:ya?ml|json)$/.test(path);
  return failure(
    "config-unread",
    `${path} has no effect; flemma reads settings from ${read}.`,
    asItIs ? `Rename it: mv ${operands(path, read)}` : `Copy its settings to ${read}, and remove it.`,
  );
}

function readIfThere(path: string, options?: { readonly named: boolean }): Outcome<string | null> {
  const text = readText(path, options);
  return text.ok ? text : failure(
    "config-unreadable",
    `The settings file ${text.problem.message}`,
    text.problem.next,
  );
}
