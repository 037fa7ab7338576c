// The result of a job whose run ended without writing it.

import { isMissing } from "../../../base/files.ts";
import type { ToolSettings } from "../../../config/settings.generated.ts";
import { characterStart, truncateTail } from "../../../tools/truncate.ts";
import type { JobEnd } from "./records.ts";

const LOST = "Job lost: its run ended before the job did.";

/**
 * Returns the result of a lost job: a sentence, and the end of its output.
 *
 * @param path the file with its output; null if there is none
 */
export function lostEnd(path: string | null, truncate: ToolSettings["truncate"]): JobEnd {
  const output = path === null ? "" : endOf(path, truncate);
  const content = output === ""
    ? LOST
    : `${LOST} The end of its output, which is also in ${path}:\n\n${output}`;
  return { content, error: true, cut: true };
}

function endOf(path: string, { max_bytes: maxBytes, max_lines: maxLines }: ToolSettings["truncate"]): string {
  try {
    using file = Deno.openSync(path);
    const { size } = file.statSync();
    const bytes = new Uint8Array(Math.min(size, maxBytes));
    file.seekSync(size - bytes.length, Deno.SeekMode.Start);
    let filled = 0;
    for (let count; filled < bytes.length && (count = file.readSync(bytes.subarray(filled))) !== null;) {
      filled += count;
    }
    const text = new TextDecoder().decode(
      bytes.subarray(size > bytes.length ? characterStart(bytes, 0) : 0, filled),
    );
    return truncateTail(text.trimEnd(), { maxLines, maxBytes }).content;
  } catch (thrown) {
    if (isMissing(thrown)) return "";
    throw thrown;
  }
}
