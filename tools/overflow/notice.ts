// The bracketed notice about a shortened result, and where its complete text is.

import type { Truncation } from "../definition.ts";
import { formatSize } from "../truncate.ts";

/** Content of the notice in addition to the numbers. */
export interface NoticeOptions {
  readonly direction: "head" | "tail";
  readonly maxBytes: number;
  /** Path of the complete output. */
  readonly path?: string | null;
  /** Reason why there is no such file, as a whole sentence. */
  readonly lost?: string | null;
  /** Number of bytes to which the file is limited. */
  readonly cappedAt?: number | null;
  /** True if the file has beginning and end of longer output. @default it has the beginning */
  readonly bothEnds?: boolean;
  /** Length in bytes of the line of which only a part is shown. */
  readonly lineBytes?: number;
}

/** Returns the bracketed line, in one of five forms for the five ways to shorten a text. */
export function overflowNotice(truncation: Truncation, options: NoticeOptions): string {
  const total = truncation.total_lines;
  const size = formatSize(options.maxBytes);
  const first = options.direction === "head" ? 1 : total - truncation.output_lines + 1;
  const last = first + truncation.output_lines - 1;
  let text: string;
  if (truncation.first_line_exceeds_limit) {
    text = `Nothing shown: line 1 is longer than the limit of ${size}` +
      (options.lineBytes === undefined ? "." : ` (${formatSize(options.lineBytes)}).`);
  } else if (truncation.last_line_partial) {
    text = `Showing only the last ${formatSize(truncation.output_bytes)} of line ${total}` +
      (options.lineBytes === undefined ? "." : ` (${formatSize(options.lineBytes)}).`);
  } else if (truncation.truncated_by === "bytes") {
    text = `Showing lines ${first}-${last} of ${total} (limit ${size}).`;
  } else {
    text = `Showing lines ${first}-${last} of ${total}.`;
  }
  if (options.path) {
    const part = !options.cappedAt
      ? "Complete output"
      : options.bothEnds === true
      ? `Beginning and end of the output (${formatSize(options.cappedAt)})`
      : `First ${formatSize(options.cappedAt)} of the output`;
    text += ` ${part}: ${options.path}`;
  } else if (options.lost) text += ` ${options.lost}`;
  return `[${text}]`;
}

/**
 * Joins the shortened text and the notice with an empty line. If nothing is left of the text, returns only the notice.
 */
export function withNotice(content: string, notice: string): string {
  return content === "" ? notice : `${content}\n\n${notice}`;
}
