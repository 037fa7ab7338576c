// Findings about a document as lines a program or a person can read.

import type { Diagnostic } from "../../parser/types.ts";

/** A finding; one about the whole first block may know the very line. */
type Finding = Diagnostic & { readonly line?: number };

/** `FILE:LINE:COL: severity code message`; a finding without a place is about the first line. */
export function diagnosticLine(label: string, diagnostic: Finding): string {
  const { startCol = 1, severity, code, message } = diagnostic;
  return `${label}:${lineOf(diagnostic)}:${startCol}: ${severity} ${code} ${
    message.replace(/\s*\n\s*/g, " ")
  }`;
}

/** The line to go to, 1-based. */
function lineOf({ line, start }: Finding): number {
  return line ?? start ?? 1;
}

/** The members as the JSON of reports spells them; what is not known is absent in it. */
export function diagnosticJson(diagnostic: Finding) {
  const { code, type, severity, message, start, end, line, startCol, endCol, id } = diagnostic;
  return { code, type, severity, message, start, end, line, start_col: startCol, end_col: endCol, id };
}
