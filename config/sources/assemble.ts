// Puts the layers of a run together: each file parsed and checked, the project weighed, session and flags on top.

import { isMissing } from "../../base/files.ts";
import { BUILTIN_CATALOG } from "../schema/catalog.ts";
import { draftLayer } from "../layers/draft.ts";
import { effectiveSettings } from "../layers/effective.ts";
import { parentOf } from "../../base/paths.ts";
import { originOf } from "../layers/explain.ts";
import type { LayerLog } from "../layers/log.ts";
import type { Loaded, LoadOptions, Sources } from "./find.ts";
import { Places } from "./places.ts";
import { bringsTools } from "../layers/references.ts";
import { unreadKeys } from "../layers/unread.ts";
import { sameItem } from "../schema/check.ts";
import { modulePath, modulesIn } from "../schema/module_path.ts";
import type { Layer } from "../types.ts";
import { operands } from "../../base/shell_word.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { withImports } from "./imports.ts";
import { mcpShare } from "./mcp_file.ts";
import { namedFiles, type ProjectShare, trustedShare, untrustedShare } from "./project.ts";
import { readSession } from "./session_overrides.ts";
import { parseSource, type SourceTree } from "./yaml.ts";
import { writeTree } from "../layers/write_tree.ts";
import { switchTo } from "../layers/switch_preset.ts";
import { isTrusted } from "./trust.ts";

/** Reads everything that was found. See `loadSettings` for the failures. */
export async function assemble(options: LoadOptions, sources: Sources): Promise<Outcome<Loaded>> {
  let catalog = options.catalog ?? BUILTIN_CATALOG;
  const { environment } = options;
  const lines: string[] = [];
  const warnings: string[] = [];
  const notices: Problem[] = sources.unread.map(({ path, read }) => ({
    code: "config-unread",
    message: `${path} is not read, because ${read} is.`,
    next: `Keep one of the two: rm ${operands(path)}`,
  }));
  const logs: LayerLog[] = [];
  const places = new Map<Layer, { readonly path: string; readonly places: Places }>();

  const readFile = async (
    layer: "G" | "P",
    source: { path: string; text: string },
  ): Promise<LayerLog | null> => {
    const parsed = await parseSource(source.text);
    if (!parsed.ok) {
      lines.push(...parsed.problem.map(({ place, message }) => `${source.path}:${place}: ${message}`));
      return null;
    }
    const inFile = new Places(parsed.value, catalog);
    places.set(layer, { path: source.path, places: inFile });
    const module = (path: string) => modulePath(path, parentOf(source.path), environment.home);
    const write = () => {
      const draft = draftLayer({ layer, others: logs, catalog, module });
      return { draft, faults: [...writeTree(draft, rootOf(parsed.value), { catalog }), ...draft.finish()] };
    };
    let { draft, faults } = write();
    if (!catalog.open && bringsTools(draft.log)) {
      // Names that only a source may have stand anywhere in the file, before the source too.
      catalog = { ...catalog, open: true };
      ({ draft, faults } = write());
    }
    for (const { key, module } of await missingModules(draft.log)) {
      faults.push({
        code: "config_invalid_value",
        severity: "error",
        key,
        message: `"${key}" names the module ${module}, which does not exist`,
        written: key.split("."),
      });
    }
    faults.push(...unreadKeys(draft.log));
    const located = faults.map((fault) => ({ fault, place: inFile.of(fault) }))
      .sort((a, b) => comparePlaces(a.place, b.place));
    for (const { fault, place } of located) {
      const line = `${source.path}:${place}: ${fault.message}`;
      if (fault.severity === "error") lines.push(line);
      else warnings.push(line);
      if (fault.severity === "warning" && /"\$/.test(fault.message)) {
        notices.push({ code: "config-unknown-preset", message: `${line}.` });
      }
    }
    if (!isMapping(parsed.value)) lines.push(`${source.path}:1:1: expected a mapping of settings`);
    return draft.log;
  };

  if (sources.global !== null) {
    const log = await readFile("G", sources.global);
    if (log !== null) logs.push(log);
  }
  let served: LayerLog | null = null;
  let untrusted: readonly string[] = [];
  if (sources.mcp !== null) {
    const share = await mcpShare(environment, await realPath(sources.mcp.path), sources.mcp, logs);
    if (!share.ok) return share;
    notices.push(...share.value.notices);
    untrusted = share.value.untrusted;
    const draft = draftLayer({ layer: "P", others: logs, catalog });
    for (const { message } of writeTree(draft, { mcp: { servers: share.value.servers } }, { catalog })) {
      lines.push(`${sources.mcp.path}: ${message}`);
    }
    if (draft.log.operations.length > 0) served = draft.log;
  }
  let denied: readonly string[] = [];
  if (sources.project !== null) {
    const log = await readFile("P", sources.project);
    if (log !== null) {
      const share = await weigh(options, sources.project, log, logs, catalog);
      if (!share.ok) return share;
      // The project's settings speak after its list of servers.
      for (const operation of share.value.log.operations) served?.push(operation);
      logs.push(served ?? share.value.log);
      served = null;
      denied = share.value.denied;
      if (share.value.notice !== null) notices.push(share.value.notice);
    }
  }
  if (served !== null) logs.push(served);
  if (sources.session) {
    const document = options.document === undefined || options.document === null
      ? null
      : await realPath(options.document);
    const session = await readSession(environment, document, options.now ?? new Date());
    if (!session.ok) return session;
    for (const { path, operations } of session.value) {
      const draft = draftLayer({ layer: "R", others: logs, catalog });
      const faults = operations.flatMap(({ op, path, value }) => [...draft.apply(op, path, value)]);
      const ignored = [...faults, ...draft.warnings];
      for (const fault of ignored) {
        notices.push({
          code: "session-ignored",
          message: `${path}: ${fault.message}; it has no effect.`,
          next: "Remove it: flemma session reset",
        });
      }
      if (draft.operations.length > 0) logs.push(draft.log);
    }
  }
  const module = (path: string) => modulePath(path, environment.cwd, environment.home);
  const line = draftLayer({ layer: "C", others: logs, catalog, module });
  if (options.preset !== undefined) {
    const switched = switchTo(line, options.preset, logs);
    if (!switched.ok) return switched;
  }
  const given = [...writeTree(line, options.overrides ?? {}, { catalog })];
  const approve = options.approve ?? [];
  if (approve.length > 0) {
    const policy = line.read(["tools", "auto_approve"]);
    // A function stays in charge; the names are still approved by the resolver for this run.
    if (policy.ok && typeof policy.value !== "function") {
      given.push(...line.apply("append", ["tools", "auto_approve"], [...approve]));
    }
  }
  given.push(...line.finish());
  for (const { message } of given.filter((fault) => fault.severity === "warning")) {
    notices.push({ code: "option-ignored", message: `command line: ${message}.` });
  }
  lines.push(
    ...given.filter((fault) => fault.severity === "error").map((fault) => `command line: ${fault.message}`),
  );
  if (line.operations.length > 0) logs.push(line.log);

  const effective = effectiveSettings(logs, { catalog, denied, untrusted, approved: approve });
  for (const fault of effective.faults) {
    const file = places.get(fault.layer);
    const place = file === undefined ? layerWords(fault.layer) : `${file.path}:${file.places.of(fault)}`;
    lines.push(`${place}: ${fault.message}`);
  }
  if (lines.length > 0) {
    return failure(
      "config-invalid",
      lines.join("\n"),
      "Correct the settings; nothing of them is in force until all are right.",
    );
  }
  return success({
    settings: effective.settings,
    files: [sources.global, sources.project, sources.mcp].flatMap((
      source,
    ) => (source === null ? [] : [source.path])),
    code: await withImports(
      [
        ...modulesIn(effective.settings.tools.auto_approve),
        ...modulesIn(effective.settings.tools.resolvers),
        ...effective.settings.tools.modules,
      ],
      environment.home,
    ),
    project: sources.project === null ? null : parentOf(parentOf(sources.project.path)),
    notices,
    warnings,
    logs,
    catalog,
    origin: (key) => originOf(logs, catalog, key),
    placeOf: (key, item) => {
      const says = (layer: Layer) =>
        item === undefined ||
        logs.some((log) =>
          log.layer === layer &&
          log.on(key).some(({ value }) => [value].flat().some((each) => sameItem(each, item)))
        );
      for (const [layer, { path, places: inFile }] of [...places].reverse()) {
        const place = says(layer) ? inFile.ofKey(key, item) : null;
        if (place !== null) return `${path}:${place}`;
      }
      return null;
    },
  });
}

/** How much of a project's file counts (5.3). */
async function weigh(
  options: LoadOptions,
  source: { readonly path: string; readonly text: string },
  log: LayerLog,
  below: readonly LayerLog[],
  catalog: NonNullable<LoadOptions["catalog"]>,
): Promise<Outcome<{ log: LayerLog; denied: readonly string[]; notice: Problem | null }>> {
  const { environment } = options;
  const root = source.path.slice(0, -"/.flemma/config.yaml".length);
  const real = await realPath(source.path);
  const trusted = await isTrusted(environment, real, source.text, namedFiles(log, root, environment.home));
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
      message: `A project may not set ${keys}; what ${source.path} says there has no effect.`,
    }
    : {
      code: "project-untrusted",
      message: `${source.path} is not trusted, so what it grants has no effect: ${keys}.`,
      next: `Read the file; if you agree: flemma trust ${source.path}`,
    };
  return success({ log: draft.log, denied: share.denied, notice });
}

/** Modules that decide about approval and are not there: found out at start, not at the first question. */
async function missingModules(log: LayerLog): Promise<{ key: string; module: string }[]> {
  const missing: { key: string; module: string }[] = [];
  for (const key of ["tools.auto_approve", "tools.resolvers", "tools.modules"]) {
    for (const { op, value } of log.on(key)) {
      for (const module of op === "remove" ? [] : modulesIn(value)) {
        if (!(await Deno.stat(module).then((info) => info.isFile, () => false))) {
          missing.push({ key, module });
        }
      }
    }
  }
  return missing;
}

function rootOf(tree: SourceTree): unknown {
  return isMapping(tree) ? tree.value ?? {} : {};
}

function isMapping({ value }: SourceTree): boolean {
  return value === null || value === undefined || (typeof value === "object" && !Array.isArray(value));
}

function comparePlaces(a: string, b: string): number {
  const [aLine, aColumn] = a.split(":").map(Number) as [number, number];
  const [bLine, bColumn] = b.split(":").map(Number) as [number, number];
  return aLine - bLine || aColumn - bColumn;
}

function layerWords(layer: Layer): string {
  return layer === "C" ? "command line" : layer === "R" ? "session" : "settings";
}

/** The real path of a file, or the path itself when there is no such file yet. */
async function realPath(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (thrown) {
    if (isMissing(thrown)) return path;
    throw thrown;
  }
}
