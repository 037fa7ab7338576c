// Whole results of tools in files, where a document holds only a part of them.

import type { Environment } from "../../base/environment.ts";
import { makeFile } from "../../base/files.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { overflowPath } from "../../tools/overflow/file.ts";
import type { Pruned } from "./compacted.ts";

/**
 * Writes each result into a file of its own, none over another one. The names are those that long output of tools gets.
 *
 * @param place the setting `tools.truncate.output_path_format`, and the document the files are named after
 * @returns where each result is. Fails with `overflow-unwritable`.
 */
export async function keepWholeResults(
  results: readonly Pruned[],
  { format, document, environment }: {
    readonly format: string;
    readonly document: string;
    readonly environment: Environment;
  },
): Promise<Outcome<ReadonlyMap<Pruned, string>>> {
  const kept = new Map<Pruned, string>();
  for (const pruned of results) {
    const path = overflowPath(format, { source: pruned.tool, document, id: pruned.result.id }, environment);
    try {
      kept.set(pruned, await writeBeside(path, new TextEncoder().encode(pruned.result.content)));
    } catch (thrown) {
      return failure(
        "overflow-unwritable",
        `A whole result cannot be kept in ${path}: ${thrownText(thrown)}.`,
        "Name another place in tools.truncate.output_path_format.",
      );
    }
  }
  return success(kept);
}

/** Writes a new file, under another name where there is one already. */
async function writeBeside(path: string, bytes: Uint8Array): Promise<string> {
  for (let at = 1;; at++) {
    const name = at === 1 ? path : path.replace(/(\.[^./]*)?$/, (end) => `-${at}${end}`);
    try {
      await makeFile(name, bytes, 0o600);
      return name;
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
    }
  }
}
