// One settings file as a layer: parsed and checked, with the position of every fault.

import { parentOf } from "../../base/paths.ts";
import { asSentence, type Problem } from "../../base/problem.ts";
import { draftLayer } from "../layers/draft.ts";
import type { LayerLog } from "../layers/log.ts";
import { bringsTools } from "../layers/references.ts";
import { writeTree } from "../layers/write_tree.ts";
import type { Catalog } from "../schema/catalog.ts";
import { modulePath, modulesIn } from "../schema/module_path.ts";
import type { SettingFault } from "../types.ts";
import { KeyPositions } from "./places.ts";
import { parseSource, type SourceTree } from "./yaml.ts";

/** The result of reading a file. Sentences begin with its path and position. */
export interface FileLayer {
  /** Settings of the file and their positions; null if the file cannot be parsed. */
  readonly read: { readonly log: LayerLog; readonly places: KeyPositions } | null;
  /**
   * Names that are valid from this file on. The catalog is open once a file provides tools, so that further tool names
   * are valid.
   */
  readonly catalog: Catalog;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly notices: readonly Problem[];
}

/** Reads the text of a settings file as a layer above the given ones. */
export async function readSettingsFile(
  layer: "G" | "P",
  source: { readonly path: string; readonly text: string },
  below: { readonly logs: readonly LayerLog[]; readonly catalog: Catalog; readonly home: string },
): Promise<FileLayer> {
  const parsed = await parseSource(source.text);
  const none = { catalog: below.catalog, warnings: [], notices: [] };
  if (!parsed.ok) {
    const errors = parsed.problem.map(({ place, message }) => `${source.path}:${place}: ${message}`);
    return { ...none, read: null, errors };
  }
  const places = new KeyPositions(parsed.value, below.catalog);
  const module = (path: string) => modulePath(path, parentOf(source.path), below.home);
  const write = (catalog: Catalog) => {
    const draft = draftLayer({ layer, others: below.logs, catalog, module });
    const faults = [...writeTree(draft, rootOf(parsed.value), { catalog }), ...draft.finish()];
    return { catalog, log: draft.log, faults: [...faults, ...draft.warnings] };
  };
  const first = write(below.catalog);
  // Names that only a source of tools provides may occur anywhere in the file, even before the source.
  const { catalog, log, faults } = !below.catalog.open && bringsTools(first.log)
    ? write({ ...below.catalog, open: true })
    : first;
  const all = [...faults, ...await missingModules(log)];
  const reported = all.map((fault) => ({ fault, place: places.of(fault) }))
    .sort((a, b) => comparePlaces(a.place, b.place))
    .map(({ fault: { severity, message }, place }) => ({
      severity,
      message,
      line: `${source.path}:${place}: ${message}`,
    }));
  const lines = (severity: SettingFault["severity"]) =>
    reported.filter((each) => each.severity === severity).map(({ line }) => line);
  const noMapping = isMapping(parsed.value) ? [] : [`${source.path}:1:1: expected a mapping of settings`];
  return {
    read: { log, places },
    catalog,
    errors: [...lines("error"), ...noMapping],
    warnings: lines("warning"),
    notices: reported.filter(({ severity, message }) => severity === "warning" && /"\$/.test(message))
      .map(({ line }) => ({ code: "config-unknown-preset", message: asSentence(line) })),
  };
}

/** Reports missing approval and tool modules at start instead of at the first call. */
async function missingModules(log: LayerLog): Promise<SettingFault[]> {
  const missing: SettingFault[] = [];
  for (const key of ["tools.auto_approve", "tools.resolvers", "tools.modules"]) {
    for (const { op, value } of log.on(key)) {
      for (const module of op === "remove" ? [] : modulesIn(value)) {
        if (await Deno.stat(module).then((info) => info.isFile, () => false)) continue;
        missing.push({
          code: "config_invalid_value",
          severity: "error",
          key,
          message: `"${key}" names the module ${module}, which does not exist`,
          written: key.split("."),
        });
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
