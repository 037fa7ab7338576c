// The settings one document runs under: every layer, with the document's first block evaluated on top.

import type { Environment } from "../base/environment.ts";
import { documentSettings } from "../config/frontmatter.ts";
import { loadSettings } from "../config/load.ts";
import { BUILTIN_CATALOG, type Catalog, type ToolFact } from "../config/schema/catalog.ts";
import type { DocumentSettings } from "../config/document/first_block.ts";
import { findSources, type Loaded, type Sources } from "../config/sources/find.ts";
import { toolFolders } from "../config/sources/tool_folders.ts";
import { type Outcome, success } from "../base/problem.ts";
import type { LockPlace, Settings } from "../config/settings.ts";
import type { SandboxSettings } from "../config/settings/sandbox.ts";
import type { Chat, Frontmatter, Preamble } from "../parser/types.ts";
import type { EvaluatedFrontmatter } from "../prompt/evaluate.ts";
import type { ReadPolicy } from "../prompt/file_log.ts";
import type { PersonalityFacts } from "../prompt/types.ts";
import type { PathContext, Sandbox } from "../sandbox/mod.ts";
import { visible } from "../base/visible.ts";
import { processTools } from "../tools/registry.ts";
import type { ChatOptions, OwnTools } from "./types.ts";

/** What a host says that settings depend on. */
export type SettingsHost = Pick<ChatOptions, "settings" | "tools" | "print"> & {
  readonly environment: Environment;
};

/** What of a document speaks about settings. */
export interface Blocks {
  readonly frontmatter: Frontmatter | null;
  /** What stands before the first message beside the first block. */
  readonly preamble: Preamble | null;
}

/** A document as far as its settings go. */
export interface SettingsSubject extends Blocks {
  /** Absolute path, or null when unsaved. */
  readonly path: string | null;
}

/** What of a document speaks about settings; no document says nothing. */
export function blocksOf(chat: Pick<Chat, "frontmatter" | "preamble"> | null): Blocks {
  return { frontmatter: chat?.frontmatter ?? null, preamble: chat?.preamble ?? null };
}

/** Whether two versions of a document say the same about settings. */
export function saySame(a: Blocks, b: Blocks): boolean {
  return a.frontmatter?.language === b.frontmatter?.language && a.frontmatter?.code === b.frontmatter?.code &&
    a.preamble?.text === b.preamble?.text;
}

export interface SubjectSettings extends DocumentSettings {
  /** The settings without the document: what the person and the project said. */
  readonly loaded: Loaded;
  /**
   * What sending needs of the first block: its findings, its variables, and the Lua session that ran it. The facts are
   * what generated system prompts are made from; who only looks for faults goes without.
   */
  evaluated(facts?: PersonalityFacts): Promise<EvaluatedFrontmatter>;
}

/**
 * Loads the settings and evaluates the first block once; everything in a run goes by this one result. Fails with what
 * is wrong in a settings file or option; what is wrong in the block are diagnostics, and an error among them means
 * that nothing may be judged or run (frontmatter-config 3.7).
 */
export async function subjectSettings(
  host: SettingsHost,
  { path, frontmatter, preamble }: SettingsSubject,
  sources?: Sources,
): Promise<Outcome<SubjectSettings>> {
  const { environment } = host;
  const loaded = await withoutDocument(host, path, sources);
  if (!loaded.ok) return loaded;
  const policy = new ReadPolicyOf(environment, path);
  // The block itself reads under the person's policy, everything after it under the document's too.
  policy.follow(loaded.value.settings.sandbox);
  const start = () => startLua(host, path, loaded.value.settings, policy.isReadable);
  if (frontmatter !== null) await policy.ready();
  // Only a Lua block needs the session before anything is sent.
  const lua = frontmatter === null ? null : await start();
  const reserved = frontmatter === null
    ? undefined
    : (await import("../config/document/reserved.ts")).BUILTIN_NAMES;
  const stated = await documentSettings({
    loaded: loaded.value,
    frontmatter,
    preamble,
    runLua: lua?.run,
    reserved,
  });
  const document = await keepHidden(stated, loaded.value.settings, {
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
  return success({ ...document, loaded: loaded.value, evaluated });
}

/** The settings without the document: what the person and the project say. */
async function withoutDocument(
  host: SettingsHost,
  path: string | null,
  sources?: Sources,
): Promise<Outcome<Loaded>> {
  const { environment } = host;
  const { user, project } = host.settings?.noConfig === true
    ? { user: null, project: null }
    : toolFolders(environment, path);
  const catalog = catalogOf(host.tools, user !== null || project !== null);
  return await loadSettings({ ...host.settings, environment, document: path, catalog, sources });
}

/**
 * Where the lock of a document lies, which has to be known before it is opened, and the settings files that were read for
 * it. Only the person and a host can say it; what is wrong in the settings is told when they are loaded for the run.
 */
export async function lockPlaceOf(
  host: SettingsHost,
  path: string,
): Promise<{ readonly place: LockPlace; readonly sources?: Sources }> {
  const { settings, environment } = host;
  const found = findSources({ ...settings, environment, document: path });
  if (!found.ok) return { place: "state" };
  const sources = found.value;
  // Loading settings costs more than looking for the word: nearly nobody writes it.
  const stated = sources.global?.text.includes("lock") === true || settings?.overrides?.lock !== undefined;
  const loaded = stated ? await withoutDocument(host, path, sources) : null;
  return { place: loaded?.ok ? loaded.value.settings.lock.place : "state", sources };
}

/** The names that settings may speak of: the built-in tools, those of this process and a host's own. */
function catalogOf(own: readonly OwnTools[] = [], mayHaveMore: boolean): Catalog {
  const process = processTools.getAll({ includeDisabled: true });
  const tools = new Map<string, ToolFact>(BUILTIN_CATALOG.tools.map((tool) => [tool.name, tool]));
  for (const given of [...process, ...own]) {
    if (typeof given !== "object" || "resolve" in given) continue;
    const { name, enabled } = given;
    // One that decides by the settings is asked when there are any.
    tools.set(name, { name, enabled: typeof enabled === "function" ? false : enabled });
  }
  const open = mayHaveMore || own.some((given) => typeof given !== "object" || "resolve" in given) ||
    processTools.sources().length > 0;
  return { ...BUILTIN_CATALOG, tools: [...tools.values()], open };
}

/** The document's settings without writable paths that would uncover what the person hides, and a warning for each. */
async function keepHidden(
  stated: DocumentSettings,
  person: Settings,
  { block, ...place }: PathContext & { readonly block: Frontmatter | null },
): Promise<DocumentSettings> {
  if (block === null || (person.sandbox.policy.deny_read ?? []).length === 0) return stated;
  const { stillHidden } = await import("../sandbox/mod.ts");
  const { settings: sandbox, uncovering } = stillHidden(person.sandbox, stated.settings.sandbox, place);
  const warnings = uncovering.map((entry): DocumentSettings["diagnostics"][number] => ({
    code: "config_ignored_value",
    type: "config",
    severity: "warning",
    message:
      `"sandbox.policy.rw_paths" names ${entry}, which your settings hide; a document cannot uncover it.`,
    key: "sandbox.policy.rw_paths",
    start: block.start,
    end: block.end,
  }));
  return {
    ...stated,
    settings: { ...stated.settings, sandbox },
    diagnostics: [...stated.diagnostics, ...warnings],
  };
}

/** What the sandbox policy hides is not taken in by a document either (sandbox 12.1). */
class ReadPolicyOf {
  readonly #environment: Environment;
  readonly #document: string | null;
  /** The person's, then the document's: what either hides is hidden. */
  readonly #sandboxes: Sandbox[] = [];
  readonly #waiting: SandboxSettings[] = [];

  constructor(environment: Environment, document: string | null) {
    this.#environment = environment;
    this.#document = document;
  }

  /** Goes by these settings too, from the next `ready` on. */
  follow(settings: SandboxSettings): void {
    if (settings.enabled) this.#waiting.push(settings);
  }

  /** To be awaited before anything is read. The sandbox is loaded only here: most documents read no file. */
  async ready(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const { createSandbox } = await import("../sandbox/mod.ts");
    const place = { environment: this.#environment, document: this.#document, protect: [] };
    this.#sandboxes.push(...this.#waiting.splice(0).map((settings) => createSandbox({ settings, ...place })));
  }

  /** @throws Before `ready`: what is not known yet must not count as allowed. */
  readonly isReadable: ReadPolicy = (path) => {
    if (this.#waiting.length > 0) throw new Error("the read policy was asked before it was ready");
    return this.#sandboxes.every((sandbox) => sandbox.isPathReadable(path));
  };
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
    print: (line) => print?.(visible(line, { lines: true })),
  });
}
