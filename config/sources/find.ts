// The files of each layer: where they are looked for, and their texts, unread (frontmatter-config 5.1, 5.3).

import type { Catalog } from "../schema/catalog.ts";
import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { configFolder, sessionFolder } from "../../base/folders.ts";
import { parentOf } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { LayerLog } from "../layers/log.ts";
import type { Settings } from "../settings.ts";
import { readText } from "./json_file.ts";

export interface LoadOptions {
  readonly environment: Environment;
  /** `--config FILE`: must exist. */
  readonly configPath?: string;
  /** `--no-config`: read no file at all, neither the person's nor the project's nor the session's. */
  readonly noConfig?: boolean;
  /** The command line's own layer, in the shape of a settings file. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** The preset to switch to for this run. What `overrides` say beside it is stronger. */
  readonly preset?: string;
  /** Tool names approved for this run only, on top of whatever policy holds. */
  readonly approve?: readonly string[];
  /** Absolute path of the document, or null when unsaved. Its folder leads to the project file. @default null */
  readonly document?: string | null;
  /** What is registered. @default the built-in tools */
  readonly catalog?: Catalog;
  /** @default now */
  readonly now?: Date;
}

export interface Loaded {
  readonly settings: Settings;
  /** Files that were read and modules they name; they are out of the tools' reach (S11). */
  readonly files: readonly string[];
  /** Things to tell a person once: settings of a project without effect, unknown presets. */
  readonly notices: readonly Problem[];
  /** Findings that only `config check` tells, one full line each. */
  readonly warnings: readonly string[];
  /** The layers above the defaults, weakest first. */
  readonly logs: readonly LayerLog[];
  readonly catalog: Catalog;
  /** The layer a key's value comes from, e.g. `tools.auto_approve` → `global file`. */
  origin(key: string): string;
}

/** What was found of each layer, unread. */
export interface Sources {
  readonly global: { readonly path: string; readonly text: string } | null;
  readonly project: { readonly path: string; readonly text: string } | null;
  readonly session: boolean;
}

/** The files of all layers. */
export function findSources(options: LoadOptions): Outcome<Sources> {
  if (options.noConfig) return success({ global: null, project: null, session: false });
  const global = findGlobal(options);
  if (!global.ok) return global;
  const { cwd } = options.environment;
  const document = options.document ?? null;
  const project = findProject(options.environment, document === null ? cwd : parentOf(document));
  if (!project.ok) return project;
  const session = isThere(sessionFolder(options.environment).path);
  return success({ global: global.value, project: project.value, session });
}

function findGlobal(options: LoadOptions): Outcome<Sources["global"]> {
  const { variables, cwd } = options.environment;
  const named = options.configPath ?? (variables.FLEMMA_CONFIG || undefined);
  if (named !== undefined) {
    const path = named.startsWith("/") ? named : `${cwd}/${named}`;
    const text = readIfThere(path, { named: true });
    if (text.ok && text.value === null) {
      return failure(
        "config-missing",
        `The configuration file ${named} does not exist.`,
        "Check --config and FLEMMA_CONFIG, or use --no-config.",
      );
    }
    return text.ok ? success({ path, text: text.value! }) : text;
  }
  if (variables.FLEMMA_CONFIG === "") return success(null);
  const folder = configFolder(options.environment);
  for (const name of ["config.yaml", "config.yml", "config.json"]) {
    const path = `${folder}/${name}`;
    const text = readIfThere(path);
    if (!text.ok) return text;
    if (text.value !== null) return success({ path, text: text.value });
  }
  return success(null);
}

/**
 * The project file that belongs to a folder: the first `.flemma/config.yaml` upwards to the home or a repository
 * root, whichever comes first (5.3).
 */
function findProject(environment: Environment, folder: string): Outcome<Sources["project"]> {
  for (let at = folder.replace(/\/+$/, "");; at = at.slice(0, at.lastIndexOf("/"))) {
    const path = `${at}/.flemma/config.yaml`;
    const text = readIfThere(path);
    if (!text.ok) return text;
    if (text.value !== null) return success({ path, text: text.value });
    if (at === "" || at === environment.home.replace(/\/+$/, "") || isThere(`${at}/.git`)) {
      return success(null);
    }
  }
}

function readIfThere(path: string, options?: { readonly named: boolean }): Outcome<string | null> {
  const text = readText(path, options);
  return text.ok ? text : failure(
    "config-unreadable",
    `The configuration file ${text.problem.message}`,
    "Make it a readable text file, or use --no-config.",
  );
}
