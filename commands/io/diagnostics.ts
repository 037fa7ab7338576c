// Formats diagnostics of a document for people and for JSON reports.

import type { Diagnostic } from "../../parser/types.ts";

/** A diagnostic. A diagnostic about the whole frontmatter may also have the exact `line`. */
type Finding = Diagnostic & { readonly line?: number };

/** Formats a diagnostic as `FILE:LINE:COL: severity code message`. A diagnostic without a position points at line 1. */
export function diagnosticLine(label: string, diagnostic: Finding): string {
  const { startCol = 1, severity, code, message } = diagnostic;
  return `${label}:${lineOf(diagnostic)}:${startCol}: ${severity} ${code} ${
    message.replace(/\s*\n\s*/g, " ")
  }`;
}

function lineOf({ line, start }: Finding): number {
  return line ?? start ?? 1;
}

/** Returns a diagnostic with the member names of JSON reports; members that are not known are undefined. */
export function findingJson(diagnostic: Finding) {
  const { code, type, severity, message, start, end, line, startCol, endCol, id } = diagnostic;
  return { code, type, severity, message, start, end, line, start_col: startCol, end_col: endCol, id };
}
