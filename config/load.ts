// Settings of one run: defaults, then the person's file, then what the command line said.

import type { Environment } from "./environment.ts";
import { type Outcome, type Problem, success } from "./problem.ts";
import { type ApprovalPreset, DEFAULT_SETTINGS, type Settings } from "./settings.ts";
import { TOOL_TABLES } from "./schema.ts";
import { checkSettings, overlay } from "./validate.ts";

export interface LoadOptions {
  readonly environment: Environment;
  /** `--config FILE`: must exist. */
  readonly configPath?: string;
  /** `--no-config`: read no file at all. */
  readonly noConfig?: boolean;
  /** The command line's own layer, in the shape of a settings file. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Tool names approved for this run only, on top of whatever policy holds. */
  readonly approve?: readonly string[];
}

export interface Loaded {
  readonly settings: Settings;
  /** Files that were read; they are out of the tools' reach (S11). */
  readonly files: readonly string[];
  /** The layer a key's value comes from, e.g. `tools.auto_approve` → `file`. */
  origin(key: string): "defaults" | "file" | "command line";
}

/**
 * Loads settings (frontmatter-config 5.1 and 5.2). Any mistake in a file or option stops the program: a wrong
 * policy is never half applied. The problem `config-invalid` lists every mistake, one a line, as
 * `FILE:LINE:COL: sentence`.
 */
export async function loadSettings(options: LoadOptions): Promise<Outcome<Loaded>> {
  const found = await findFile(options);
  if (!found.ok) return found;
  const file = found.value === null ? success({}) : await readTree(found.value.path, found.value.text);
  if (!file.ok) return file;
  const upper = checkSettings(options.overrides ?? {});
  if (upper.mistakes.length > 0) {
    return invalid(upper.mistakes.map((mistake) => `command line: ${mistake.message}`));
  }
  const given = overlay(overlay({}, file.value), upper.tree);
  const settings = toSettings(overlay(defaultTree(given), given), options.approve ?? []);
  return success({
    settings,
    files: found.value === null ? [] : [found.value.path],
    origin: (key) =>
      lookUp(upper.tree, key) !== undefined
        ? "command line"
        : lookUp(file.value, key) !== undefined
        ? "file"
        : "defaults",
  });
}

/** A preset as a file writes it: `auto_approve` is the plugin's word for `approve`. */
type WrittenPreset = ApprovalPreset & { readonly auto_approve?: readonly string[] };

async function findFile(options: LoadOptions): Promise<Outcome<{ path: string; text: string } | null>> {
  if (options.noConfig) return success(null);
  const { variables, home, cwd } = options.environment;
  const named = options.configPath ?? (variables.FLEMMA_CONFIG || undefined);
  if (named !== undefined) {
    const path = named.startsWith("/") ? named : `${cwd}/${named}`;
    const text = await readIfThere(path);
    if (text.ok && text.value === null) {
      return fail({
        code: "config-missing",
        message: `The configuration file ${named} does not exist.`,
        next: "Check --config and FLEMMA_CONFIG, or use --no-config.",
      });
    }
    return text.ok ? success({ path, text: text.value! }) : text;
  }
  const absent = variables.FLEMMA_CONFIG === "";
  const folder = `${variables.XDG_CONFIG_HOME || `${home}/.config`}/flemma`;
  for (const name of absent ? [] : ["config.yaml", "config.yml", "config.json"]) {
    const path = `${folder}/${name}`;
    const text = await readIfThere(path);
    if (!text.ok) return text;
    if (text.value !== null) return success({ path, text: text.value });
  }
  return success(null);
}

async function readIfThere(path: string): Promise<Outcome<string | null>> {
  try {
    return success(await Deno.readTextFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return success(null);
    }
    return fail({
      code: "config-unreadable",
      message: `The configuration file ${path} cannot be read: ${
        error instanceof Error ? error.message : error
      }.`,
      next: "Make it a readable text file, or use --no-config.",
    });
  }
}

/** Parses and checks one file; the YAML reader also reads JSON and knows where everything stands. */
async function readTree(path: string, text: string): Promise<Outcome<Readonly<Record<string, unknown>>>> {
  const { isMap, isNode, isScalar, LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  if (document.errors.length > 0) {
    return invalid(document.errors.map((error) => `${place(error.pos[0])}: ${firstLine(error.message)}`));
  }
  const checked = checkSettings(document.toJS({ maxAliasCount: 100 }));
  if (checked.mistakes.length === 0) return success(checked.tree);
  return invalid(checked.mistakes.map(({ path: keys, atKey, message }) => {
    const parent = keys.length > 1 ? document.getIn(keys.slice(0, -1), true) : document.contents;
    const pair = isMap(parent)
      ? parent.items.find((item) => (isScalar(item.key) ? item.key.value : item.key) === keys.at(-1))
      : undefined;
    const node = atKey ? pair?.key : pair?.value ?? pair?.key ?? document.contents;
    const offset = isNode(node) ? node.range?.[0] ?? 0 : 0;
    return `${place(offset)}: ${message}`;
  }));
}

function defaultTree(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { named: _, ...tools } = DEFAULT_SETTINGS.tools;
  const tree = structuredClone({ ...DEFAULT_SETTINGS, tools }) as unknown as Record<string, unknown>;
  const plugin = lookUp(given, "tools.approval_profile") === "v0.11";
  return plugin ? overlay(tree, { tools: { auto_approve: ["$standard"] } }) : tree;
}

/** Both homes of presets hold the same ones; the one under `tools` wins member by member (approval 5). */
function mergePresets(tree: Readonly<Record<string, unknown>>): Record<string, ApprovalPreset> {
  const merged: Record<string, ApprovalPreset> = {};
  for (const home of [tree.presets, lookUp(tree, "tools.presets")]) {
    for (const [name, preset] of Object.entries((home ?? {}) as Record<string, WrittenPreset>)) {
      const { auto_approve, ...members } = preset;
      merged[name] = { ...merged[name], ...(auto_approve ? { approve: auto_approve } : {}), ...members };
    }
  }
  return merged;
}

function toSettings(tree: Readonly<Record<string, unknown>>, approve: readonly string[]): Settings {
  const tools = { ...(tree.tools as Record<string, unknown>) };
  const named: Record<string, unknown> = {};
  for (const name of TOOL_TABLES) {
    if (tools[name] !== undefined) named[name] = tools[name];
    delete tools[name];
  }
  const policy = typeof tools.auto_approve === "string" ? [tools.auto_approve] : tools.auto_approve;
  tools.auto_approve = approve.length === 0 ? policy : [...((policy ?? []) as readonly string[]), ...approve];
  const { presets: _, ...rest } = tree;
  return { ...rest, tools: { ...tools, presets: mergePresets(tree), named } } as unknown as Settings;
}

function lookUp(tree: Readonly<Record<string, unknown>>, key: string): unknown {
  return key.split(".").reduce<unknown>(
    (
      value,
      name,
    ) => (typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined),
    tree,
  );
}

function invalid(lines: readonly string[]): { ok: false; problem: Problem } {
  return fail({
    code: "config-invalid",
    message: lines.join("\n"),
    next: "Correct the settings; nothing of them is in force until all are right.",
  });
}

function fail(problem: Problem): { ok: false; problem: Problem } {
  return { ok: false, problem };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!;
}
