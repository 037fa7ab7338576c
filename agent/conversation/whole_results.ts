// Saves complete tool results to files when the document keeps only a part of them.

import type { Environment } from "../../base/environment.ts";
import { makeFile } from "../../base/files.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { overflowPath } from "../../tools/overflow/file.ts";
import type { Pruned } from "./compacted.ts";

/**
 * Writes each result to a new file, named like the files for long output of tools.
 *
 * @param place the setting `tools.truncate.output_path_format`, and the document that the files are named after
 * @returns the path of each result's file. Fails with `overflow-unwritable`.
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
        `A full result cannot be saved in ${path}: ${thrownText(thrown)}.`,
        "Set another path in tools.truncate.output_path_format.",
      );
    }
  }
  return success(kept);
}

/** Writes a new file. If the name is taken, uses another name. */
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
