// `flemma config show | check | path | get`: shows settings, their sources and their mistakes.

import { blocksOf } from "../../agent/settings.ts";
import type { DocumentSettings } from "../../config/document/first_block.ts";
import { allRows, lookUp, type Row } from "../../config/layers/explain.ts";
import type { Loaded } from "../../config/sources/find.ts";
import { formatValue, renderLegend, renderRows } from "../../config/layers/render.ts";
import { currentModel } from "../../providers/models/choice.ts";
import { wholeSentence } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import type { Catalog } from "../../config/schema/catalog.ts";
import { findKey, type KeyMatch } from "../../config/schema/keys.ts";
import { documentPath, readForReport, settingsFor } from "../document/read.ts";
import { refuse } from "../io/refuse.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { layerFiles } from "./layer_files.ts";
import { switchOption } from "../line/options.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  switch (invocation.arguments.command.name) {
    case "config path":
      return await path(invocation);
    case "config get":
      return await get(invocation);
    default:
      return await show(invocation);
  }
}

interface View {
  readonly loaded: Loaded;
  readonly document: DocumentSettings;
  readonly label: string | null;
}

/** Returns the settings with the document's layer, or the exit code after reporting an error. */
async function view(
  invocation: Invocation,
  file: string | undefined,
): Promise<View | { readonly exit: number }> {
  const opened = file === undefined ? null : await readForReport(invocation, file);
  if (opened !== null && "exit" in opened) return opened;
  const document = await settingsFor(invocation, {
    path: opened?.path ?? null,
    ...blocksOf(opened?.chat ?? null),
  });
  if (!document.ok) return { exit: refuse(invocation, document.problem) };
  return { loaded: document.value.loaded, document: document.value, label: opened?.label ?? null };
}

async function show(invocation: Invocation): Promise<number> {
  const seen = await view(invocation, invocation.arguments.positionals[0]);
  if ("exit" in seen) return seen.exit;
  const { loaded, document, label } = seen;
  const all = allRows(document.logs, loaded.catalog);
  const changed = switchOption(invocation.arguments, "changed") === true;
  const rows = changed ? all.filter((row) => row.layers.some((layer) => layer !== "D")) : all;
  for (const notice of loaded.notices) invocation.messages.notice(notice);
  tellDiagnostics(invocation, label, document);
  if (switchOption(invocation.arguments, "json") === true) writeOutput(`${safeJson(rows.map(rowJson))}\n`);
  else if (rows.length === 0) writeOutput("No setting differs from its default.\n");
  else {
    const legend = renderLegend(rows.flatMap((row) => row.layers));
    writeLines(`${renderRows(rows)}\n${legend}\n`);
  }
  return Exit.ok;
}

/** If `key` is an old key without effect, returns facts about it; null if `key` is a setting. */
function oldKeyOf(key: string, catalog: Catalog): NonNullable<KeyMatch["old"]> | null {
  const found = findKey(key.split("."), catalog);
  return found.ok && found.value.node.node === "old" ? found.value.old ?? null : null;
}

async function get(invocation: Invocation): Promise<number> {
  const [key, file] = invocation.arguments.positionals;
  const seen = await view(invocation, file);
  if ("exit" in seen) return seen.exit;
  const found = lookUp(seen.document.logs, seen.loaded.catalog, key!);
  if (!found.ok) {
    return refuse(invocation, { code: "usage", message: wholeSentence(found.problem.message) });
  }
  const old = oldKeyOf(key!, seen.loaded.catalog);
  if (old !== null) return refuse(invocation, { code: "usage", message: `"${old.key}" ${old.says}.` });
  tellDiagnostics(invocation, seen.label, seen.document);
  const rows: readonly Row[] = "key" in found.value ? [found.value] : found.value;
  if (switchOption(invocation.arguments, "json") === true) {
    writeOutput(`${safeJson("key" in found.value ? rowJson(found.value) : rows.map(rowJson))}\n`);
  } else if ("key" in found.value) {
    const { key: name, value: written } = found.value;
    // Prints the default model too, because that model is used and paid for.
    const value = name === "model" ? currentModel(seen.document.settings) : written;
    writeOutput(
      value === null ? "" : `${typeof value === "string" ? visible(value) : visible(formatValue(value))}\n`,
    );
  } else writeLines(renderRows(rows));
  return Exit.ok;
}

async function path(invocation: Invocation): Promise<number> {
  const document = documentPath(invocation.environment, invocation.arguments.positionals[0]);
  if (!document.ok) return refuse(invocation, document.problem);
  const lines = await layerFiles(invocation, document.value);
  if (!lines.ok) return refuse(invocation, lines.problem);
  writeLines(`${lines.value.join("\n")}\n`);
  return Exit.ok;
}

/** Reports what is wrong with the frontmatter of a document. */
export function tellDiagnostics(
  invocation: Invocation,
  label: string | null,
  document: Pick<DocumentSettings, "diagnostics">,
): void {
  for (const found of document.diagnostics) {
    invocation.messages.say(
      `${label}:${found.line ?? found.start ?? 1}:1: ${found.severity} ${found.code} ${found.message}`,
    );
  }
}

function rowJson({ key, value, layers, excluded, hidden }: Row) {
  return {
    key,
    value: typeof value === "function" ? "(a function)" : value,
    layers,
    ...(excluded === undefined || excluded.length === 0 ? {} : { excluded }),
    ...(hidden === undefined ? {} : { hidden }),
  };
}
