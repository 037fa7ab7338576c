// Findings about a document as lines a program or a person can read.

import type { Diagnostic } from "../parser/types.ts";

/** `FILE:LINE:COL: severity code message`; a finding without a place is about the first line. */
export function diagnosticLine(label: string, diagnostic: Diagnostic): string {
  const { start = 1, startCol = 1, severity, code, message } = diagnostic;
  return `${label}:${start}:${startCol}: ${severity} ${code} ${message.replace(/\s*\n\s*/g, " ")}`;
}

/** The members as the JSON of reports spells them. */
export function diagnosticJson(diagnostic: Diagnostic): Record<string, unknown> {
  const { code, type, severity, message, start, end, startCol, endCol, id } = diagnostic;
  return { code, type, severity, message, start, end, start_col: startCol, end_col: endCol, id };
}
