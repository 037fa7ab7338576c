// `flemma config check`: reports every mistake in the settings with its position, and every setting without effect.

import { problemLine } from "../../base/problem.ts";
import { blocksOf } from "../../agent/settings.ts";
import { settingsFindings } from "../../agent/views/settings_findings.ts";
import type { DocumentSettings } from "../../config/document/first_block.ts";
import type { Loaded } from "../../config/sources/find.ts";
import { documentPath, readForReport, settingsFor } from "../document/read.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { writeLines } from "../io/streams.ts";
import { settingsOf } from "../line/overrides.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { environment } = invocation;
  const file = invocation.arguments.positionals[0];
  const document = documentPath(environment, file);
  if (!document.ok) return refuse(invocation, document.problem);
  const loaded = await settingsOf(invocation.arguments, environment, document.value);
  if (!loaded.ok) {
    if (loaded.problem.code !== "config-invalid") return refuse(invocation, loaded.problem);
    writeLines(`${loaded.problem.message}\n`);
    return Exit.usage;
  }
  let { lines, exit } = fileLines(loaded.value, { environment, document: document.value });
  if (file !== undefined) {
    const read = await readForReport(invocation, file);
    if ("exit" in read) return read.exit;
    const subject = await settingsFor(invocation, { path: read.path, ...blocksOf(read.chat) });
    if (!subject.ok) return refuse(invocation, subject.problem);
    lines = [...lines, ...subject.value.diagnostics.map((found) => diagnosticLine(file, found))];
    const isBlocked = subject.value.diagnostics.some(({ severity }) => severity === "error");
    if (isBlocked && exit === Exit.ok) exit = Exit.diagnostics;
  }
  if (lines.length === 0) lines = [praise(loaded.value)];
  writeLines(`${lines.join("\n")}\n`);
  return exit;
}

/** Returns mistakes and warnings in valid settings, one line for each. */
export function fileLines(
  loaded: Loaded,
  context: Parameters<typeof settingsFindings>[1],
): { readonly lines: readonly string[]; readonly exit: number } {
  const lines = loaded.warnings.map((line) => `${line} (warning)`);
  for (const notice of loaded.notices) {
    if (!loaded.warnings.some((line) => notice.message.startsWith(line))) lines.push(problemLine(notice));
  }
  let exit: number = Exit.ok;
  for (const { key, item, message, severity } of settingsFindings(loaded.settings, context)) {
    const place = loaded.placeOf(key, item);
    // Only settings from files are reported.
    if (place === null) continue;
    lines.push(`${place}: "${key}": ${message}${severity === "warning" ? " (warning)" : ""}`);
    if (severity === "error") exit = Exit.usage;
  }
  return { lines, exit };
}

function diagnosticLine(file: string, found: DocumentSettings["diagnostics"][number]): string {
  return `${file}:${found.line ?? found.start ?? 1}:1: ${found.severity} ${found.code} ${found.message}`;
}

function praise(loaded: Loaded): string {
  const { files } = loaded;
  return files.length === 0
    ? "No settings file was found; the defaults apply."
    : `No errors in ${files.join(", ")}.`;
}
