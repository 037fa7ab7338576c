// Assembly of a run's layers: parses and checks each file, applies project trust, adds session and flags.

import { isMissing } from "../../base/files.ts";
import { parentOf } from "../../base/paths.ts";
import { asSentence, failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { draftLayer } from "../layers/draft.ts";
import { effectiveSettings } from "../layers/effective.ts";
import { originOf } from "../layers/explain.ts";
import { type LayerLog, resolveScalar } from "../layers/log.ts";
import { isNamed } from "../layers/servers.ts";
import { writeTree } from "../layers/write_tree.ts";
import { BUILTIN_CATALOG, type Catalog } from "../schema/catalog.ts";
import { sameItem } from "../schema/check.ts";
import type { Layer } from "../types.ts";
import { commandLineLayer } from "./command_line.ts";
import type { Loaded, LoadOptions, SettingsSources } from "./find.ts";
import { mcpShare } from "./mcp_file.ts";
import type { KeyPositions } from "./places.ts";
import { namedFiles, type ProjectShare, trustedShare, untrustedShare } from "./project.ts";
import { codeOfRun } from "./run_code.ts";
import { readSession } from "./session_overrides.ts";
import { readSettingsFile } from "./settings_file.ts";
import { isTrusted } from "./trust.ts";

/** Reads all files that were found. See `loadSettings` for the failures. */
export async function assemble(options: LoadOptions, sources: SettingsSources): Promise<Outcome<Loaded>> {
  const assembly = new Assembly(options, sources);
  const problem = await assembly.addGlobal() ?? await assembly.addProject() ?? await assembly.addSession() ??
    assembly.addCommandLine() ?? await assembly.addMcporter();
  return problem === null ? await assembly.loaded() : { ok: false, problem };
}

/** Collects layers in ascending order of precedence; each method returns the problem that stops it. */
class Assembly {
  readonly #options: LoadOptions;
  readonly #sources: SettingsSources;
  /**
   * Catalog of the names that settings may use. The catalog is open once a file provides tools, so that further tool
   * names are valid.
   */
  #catalog: Catalog;
  readonly #errors: string[] = [];
  readonly #warnings: string[] = [];
  readonly #notices: Problem[];
  readonly #logs: LayerLog[] = [];
  readonly #places = new Map<Layer, { readonly path: string; readonly places: KeyPositions }>();
  #denied: readonly string[] = [];
  /** Servers of the project that the person has not agreed to. */
  #untrusted: readonly string[] = [];

  constructor(options: LoadOptions, sources: SettingsSources) {
    this.#options = options;
    this.#sources = sources;
    this.#catalog = options.catalog ?? BUILTIN_CATALOG;
    this.#notices = sources.unread.map(({ path, read }) => ({
      code: "config-unread",
      message: `Ignored ${path}; flemma reads ${read} instead.`,
      next: `Keep one of the two: rm ${operands(path)}`,
    }));
  }

  async addGlobal(): Promise<null> {
    const { global } = this.#sources;
    const log = global === null ? null : await this.#readFile("G", global);
    if (log !== null) this.#logs.push(log);
    return null;
  }

  /** Adds the project's servers and its settings, which override them, as one layer. */
  async addProject(): Promise<Problem | null> {
    const served = await this.#readServers();
    if (!served.ok) return served.problem;
    const { project } = this.#sources;
    const written = project === null ? null : await this.#readFile("P", project);
    if (project === null || written === null) {
      if (served.value !== null) this.#logs.push(served.value);
      return null;
    }
    const share = await weigh(this.#options, project, written, this.#logs, this.#catalog);
    if (!share.ok) return share.problem;
    const { log, denied, notice } = share.value;
    for (const operation of log.operations) served.value?.push(operation);
    this.#logs.push(served.value ?? log);
    this.#denied = denied;
    if (notice !== null) this.#notices.push(notice);
    return null;
  }

  async addSession(): Promise<Problem | null> {
    if (!this.#sources.session) return null;
    const { environment, document = null, now = new Date() } = this.#options;
    const session = await readSession(environment, document === null ? null : await realPath(document), now);
    if (!session.ok) return session.problem;
    for (const { path: file, operations } of session.value) {
      const draft = draftLayer({ layer: "R", others: this.#logs, catalog: this.#catalog });
      const faults = operations.flatMap(({ op, path, value }) => [...draft.apply(op, path, value)]);
      for (const { message } of [...faults, ...draft.warnings]) {
        this.#notices.push({
          code: "session-ignored",
          message: `${file}: ${message}; it has no effect.`,
          next: "Remove it: flemma session reset",
        });
      }
      if (draft.operations.length > 0) this.#logs.push(draft.log);
    }
    return null;
  }

  addCommandLine(): Problem | null {
    const layer = commandLineLayer(this.#options, { logs: this.#logs, catalog: this.#catalog });
    if (!layer.ok) return layer.problem;
    const { log, errors, notices } = layer.value;
    this.#notices.push(...notices);
    this.#errors.push(...errors);
    if (log.operations.length > 0) this.#logs.push(log);
    return null;
  }

  /** Adds the servers of mcporter's own file. They have lower precedence than all settings. */
  async addMcporter(): Promise<null> {
    if (resolveScalar(this.#logs, "tools.mcporter.enabled", false).value !== true) return null;
    const { mcporterServers, mcporterWarning } = await import("./mcporter_file.ts");
    const { environment } = this.#options;
    const { servers, notices } = mcporterServers(environment, (name) => isNamed(name, this.#logs));
    this.#notices.push(...notices);
    const catalog = this.#catalog;
    const draft = draftLayer({ layer: "G", others: [], catalog });
    for (const { message } of writeTree(draft, { mcp: { servers } }, { catalog })) {
      this.#notices.push(mcporterWarning(asSentence(`In mcporter's settings file, ${message}`)));
    }
    this.#logs.unshift(draft.log);
    return null;
  }

  async loaded(): Promise<Outcome<Loaded>> {
    const { approve = [] } = this.#options;
    const [logs, catalog] = [this.#logs, this.#catalog];
    const { global, project, mcp } = this.#sources;
    const serversFile = (mcp ?? project)?.path;
    const { settings, faults } = effectiveSettings(logs, {
      catalog,
      denied: this.#denied,
      untrusted: this.#untrusted,
      serversFile: serversFile === undefined ? null : await realPath(serversFile),
      approved: approve,
    });
    for (const fault of faults) {
      const file = this.#places.get(fault.layer);
      const place = file === undefined ? layerWords(fault.layer) : `${file.path}:${file.places.of(fault)}`;
      this.#errors.push(`${place}: ${fault.message}`);
    }
    if (this.#errors.length > 0) {
      return failure(
        "config-invalid",
        this.#errors.join("\n"),
        this.#errors.every((text) => text.startsWith("command line: "))
          ? "Correct the command line. flemma did nothing."
          : "Correct the settings. None of them take effect until all are valid.",
      );
    }
    return success({
      settings,
      files: [global, project, mcp].flatMap((source) => (source === null ? [] : [source.path])),
      ...await codeOfRun(settings, this.#options),
      project: project === null ? null : parentOf(parentOf(project.path)),
      notices: this.#notices,
      warnings: this.#warnings,
      hooks: null,
      logs,
      catalog,
      origin: (key) => originOf(logs, catalog, key),
      placeOf: (key, item) => this.#placeOf(key, item),
    });
  }

  /** Reads a settings file. Returns null if it cannot be parsed; the reason is then in the errors. */
  async #readFile(
    layer: "G" | "P",
    source: { readonly path: string; readonly text: string },
  ): Promise<LayerLog | null> {
    const below = { logs: this.#logs, catalog: this.#catalog, home: this.#options.environment.home };
    const { read, catalog, errors, warnings, notices } = await readSettingsFile(layer, source, below);
    this.#catalog = catalog;
    this.#errors.push(...errors);
    this.#warnings.push(...warnings);
    this.#notices.push(...notices);
    if (read === null) return null;
    this.#places.set(layer, { path: source.path, places: read.places });
    return read.log;
  }

  /** Returns the layer of servers from the project; null if there are none. */
  async #readServers(): Promise<Outcome<LayerLog | null>> {
    const { mcp } = this.#sources;
    if (mcp === null) return success(null);
    const share = await mcpShare(this.#options.environment, await realPath(mcp.path), mcp, this.#logs);
    if (!share.ok) return share;
    const { notices, untrusted, servers } = share.value;
    this.#notices.push(...notices);
    this.#untrusted = untrusted;
    const catalog = this.#catalog;
    const draft = draftLayer({ layer: "P", others: this.#logs, catalog });
    for (const { message } of writeTree(draft, { mcp: { servers } }, { catalog })) {
      this.#errors.push(`${mcp.path}: ${message}`);
    }
    return success(draft.log.operations.length > 0 ? draft.log : null);
  }

  /**
   * Returns the position of a key, or of an item of its list. If several settings files contain it, returns the
   * position in the one with the highest precedence.
   */
  #placeOf(key: string, item: unknown): string | null {
    const says = (layer: Layer) =>
      item === undefined ||
      this.#logs.some((log) =>
        log.layer === layer &&
        log.on(key).some(({ value }) => [value].flat().some((each) => sameItem(each, item)))
      );
    for (const [layer, { path, places }] of [...this.#places].reverse()) {
      const place = says(layer) ? places.ofKey(key, item) : null;
      if (place !== null) return `${path}:${place}`;
    }
    return null;
  }
}

/** Determines how much of a project's file takes effect. */
async function weigh(
  options: LoadOptions,
  source: { readonly path: string; readonly text: string },
  log: LayerLog,
  below: readonly LayerLog[],
  catalog: Catalog,
): Promise<Outcome<{ log: LayerLog; denied: readonly string[]; notice: Problem | null }>> {
  const { environment } = options;
  const root = source.path.slice(0, -"/.flemma/config.yaml".length);
  const real = await realPath(source.path);
  const code = namedFiles(log, root, environment.home);
  const trusted = await isTrusted(environment, real, source.text, { code });
  if (!trusted.ok) return trusted;
  const share: ProjectShare = trusted.value
    ? trustedShare(log, root, environment.home, below)
    : untrustedShare(log, below, catalog);
  const draft = draftLayer({ layer: "P", others: below, catalog });
  for (const operation of share.operations) draft.log.push(operation);
  const keys = share.ignored.join(", ");
  const notice: Problem | null = share.ignored.length === 0 ? null : trusted.value
    ? {
      code: "project-ignored",
      message: `A project may not set ${keys}, so ${source.path} has no effect there.`,
    }
    : {
      code: "project-untrusted",
      message: `${source.path} is not trusted, so its permissions have no effect: ${keys}.`,
      next: `Read the file. If you trust it: flemma trust ${operands(source.path)}`,
    };
  return success({ log: draft.log, denied: share.denied, notice });
}

function layerWords(layer: Layer): string {
  return layer === "C" ? "command line" : layer === "R" ? "session" : "settings";
}

/** Returns the real path of a file, or the path itself if the file does not exist yet. */
async function realPath(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (thrown) {
    if (isMissing(thrown)) return path;
    throw thrown;
  }
}
