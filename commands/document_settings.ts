// The settings one document runs under: every layer, with the document's first block evaluated on top.

import { type DocumentSettings, documentSettings } from "../config/frontmatter.ts";
import type { Loaded } from "../config/load.ts";
import { type Outcome, success } from "../config/problem.ts";
import type { Settings } from "../config/settings.ts";
import type { Frontmatter } from "../parser/types.ts";
import type { EvaluatedFrontmatter } from "../prompt/evaluate.ts";
import { visible } from "../tools/visible.ts";
import type { Invocation } from "./invocation.ts";
import { settingsOf } from "./settings.ts";

/** A document as far as its settings go. */
export interface SettingsSubject {
  /** Absolute path, or null when unsaved. */
  readonly path: string | null;
  readonly frontmatter: Frontmatter | null;
}

export interface SubjectSettings extends DocumentSettings {
  /** The settings without the document: what the person and the project said. */
  readonly loaded: Loaded;
  /** What sending needs of the first block: its findings, its variables, and the Lua session that ran it. */
  evaluated(): Promise<EvaluatedFrontmatter>;
}

/**
 * Loads the settings and evaluates the first block once; everything in a run goes by this one result. Fails with what
 * is wrong in a settings file or option; what is wrong in the block are diagnostics, and an error among them means
 * that nothing may be judged or run (frontmatter-config 3.7).
 */
export async function subjectSettings(
  invocation: Invocation,
  { path, frontmatter }: SettingsSubject,
): Promise<Outcome<SubjectSettings>> {
  const loaded = await settingsOf(invocation.arguments, invocation.environment, path);
  if (!loaded.ok) return loaded;
  const start = () => startLua(invocation, path, loaded.value.settings);
  // Only a Lua block needs the session before anything is sent.
  const lua = frontmatter === null ? null : await start();
  const reserved = frontmatter === null ? undefined : (await import("../config/cell/names.ts")).BUILTIN_NAMES;
  const document = await documentSettings({ loaded: loaded.value, frontmatter, runLua: lua?.run, reserved });
  const { variables, diagnostics } = document;
  const evaluated = async () => ({ variables, diagnostics, lua: lua ?? await start() });
  return success({ ...document, loaded: loaded.value, evaluated });
}

async function startLua({ environment, messages }: Invocation, document: string | null, settings: Settings) {
  const [{ luaSession }, { luaLimits }] = await Promise.all([
    import("../prompt/template/session.ts"),
    import("../config/lua_limits.ts"),
  ]);
  const limits = luaLimits(settings.frontmatter);
  return luaSession({
    document,
    environment,
    limits,
    print: (line) => messages.note(visible(line, { lines: true })),
  });
}
