// `flemma usage`: shows tokens and cost, of one document by model, or of all documents.

import { absolutePath } from "../../base/paths.ts";
import { knownPath } from "../../cycle/storage/read.ts";
import { allRecords, recordsOf } from "../../cycle/usage/log.ts";
import { cacheShare, totalOf } from "../../cycle/usage/record.ts";
import type { UsageRecord } from "../../cycle/types.ts";
import { type HelperUsage, helperUsage } from "../document/helpers.ts";
import type { Invocation } from "../invocation.ts";
import { costWords, formatCount, percent } from "../io/amounts.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { usageJson } from "../io/usage_json.ts";
import { switchOption, textOption } from "../line/options.ts";

/** Requests, by what a line of the table is about. */
type Row = HelperUsage;

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment, messages } = invocation;
  const since = textOption(given, "since");
  if (since !== undefined && !isDay(since)) {
    const message = `--since needs a date such as 2026-11-28, not "${since}".`;
    return refuse(invocation, { code: "usage", message });
  }
  const wanted = ({ time }: UsageRecord) => since === undefined || time >= since;
  const [file] = given.positionals;
  const asJson = switchOption(given, "json") === true;
  if (file === undefined) {
    const rows = [...await allRecords(environment)]
      .map(([document, records]): Row => ({ name: document ?? UNSAVED, records: records.filter(wanted) }))
      .filter(({ records }) => records.length > 0)
      .sort((a, b) => knownCost(b) - knownCost(a) || (a.name < b.name ? -1 : 1));
    if (asJson) writeOutput(`${safeJson(allJson(rows))}\n`);
    else if (rows.length === 0) messages.note("flemma: No usage has been recorded yet.");
    else writeLines(table("document", rows));
    return Exit.ok;
  }
  const path = await knownPath(environment, file);
  const records = (await recordsOf(environment, path)).filter(wanted);
  const helpers = path === null ? [] : await helperUsage(environment, path, wanted);
  const found = await statOrNull(absolutePath(environment, file));
  const isMissing = records.length === 0 && found?.isFile !== true;
  if (asJson) writeOutput(`${safeJson(documentJson(path, records, helpers))}\n`);
  if (isMissing && found?.isDirectory === true) {
    const message = `${file} is a folder, not a document.`;
    return refuse(invocation, {
      code: "document-is-folder",
      message,
      next: "For all documents: flemma usage",
    });
  }
  if (isMissing) {
    return refuse(invocation, { code: "document-missing", message: `There is no file ${file}.` });
  }
  if (asJson) return Exit.ok;
  const rows = [...byModel(records), ...helpers.map((row) => ({ ...row, name: `helper ${row.name}` }))];
  if (rows.length === 0) messages.note(`flemma: No usage of ${file} has been recorded yet.`);
  else writeLines(table("model", rows));
  return Exit.ok;
}

function knownCost({ records }: Row): number {
  return totalOf(records).cost ?? 0;
}

const UNSAVED = "(unsaved)";

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

async function statOrNull(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.stat(path);
  } catch {
    // If the file cannot be read, there is no document to report on.
    return null;
  }
}

function byModel(records: readonly UsageRecord[]): readonly Row[] {
  const rows = Map.groupBy(records, ({ provider, model }) => `${provider} ${model}`);
  return [...rows].map(([name, records]) => ({ name, records }));
}

function documentJson(document: string | null, records: readonly UsageRecord[], helpers: readonly Row[]) {
  const models = byModel(records).map(({ records }) => {
    const [{ provider, model }] = records as [UsageRecord];
    return { provider, model, ...totalOf(records) };
  });
  return {
    document,
    usage: usageJson([...records, ...helpers.flatMap(({ records }) => records)]),
    models,
    helpers: helpers.map(({ name, records }) => ({ name, usage: usageJson(records) })),
    requests: records,
  };
}

function allJson(rows: readonly Row[]) {
  const documents = rows.map(({ name, records }) => ({
    document: name === UNSAVED ? null : name,
    ...totalOf(records),
  }));
  return { usage: usageJson(rows.flatMap(({ records }) => records)), documents };
}

const COLUMNS = ["requests", "in", "cached", "out", "cost"];

/** Formats one line per row and a total, with numbers aligned right. */
function table(what: string, rows: readonly Row[]): string {
  const all: Row = { name: "all", records: rows.flatMap(({ records }) => records) };
  const cells = [...rows, ...(rows.length > 1 ? [all] : [])].map(({ name, records }) => {
    const total = totalOf(records);
    const sent = total.input + total.cache_read + total.cache_write;
    const share = cacheShare(total);
    return [
      name,
      formatCount(total.requests),
      formatCount(sent),
      share === null ? "" : percent(share),
      formatCount(total.output),
      costWords(total),
    ];
  });
  const lines = [[what, ...COLUMNS], ...cells];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines.map((line) => {
    const padded = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)
    );
    return `${padded.join("  ").trimEnd()}\n`;
  }).join("");
}
