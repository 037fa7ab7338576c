// Reads the results of a batch row by row, so that memory holds one row at a time.

import type { Environment } from "../../base/environment.ts";
import { writeAll } from "../../base/files.ts";
import { StateUnwritable } from "../../base/folders.ts";
import { type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { parseExactly } from "../../base/text/exact_json.ts";
import type { ResultSource } from "../types.ts";
import type { BatchClient } from "./client.ts";

/** What was saved of the results of a batch. */
export interface SavedResults {
  /** True if the provider has deleted a part of them. */
  readonly isDeleted: boolean;
}

/** Saves the results of a batch in a file, so that no connection stays open while replies are written and calls run. */
export async function saveResults(
  client: BatchClient,
  sources: readonly ResultSource[],
  { path, environment }: { readonly path: string; readonly environment: Environment },
): Promise<Outcome<SavedResults>> {
  try {
    using file = await Deno.open(path, { create: true, write: true, truncate: true, mode: 0o600 });
    let isDeleted = false;
    for (const source of sources) {
      if (source.kind === "rows") {
        for (const row of source.rows) await write(file, `${JSON.stringify(row)}\n`);
        continue;
      }
      const response = await client.lines(source.url);
      if (!response.ok) {
        if (response.problem.status !== 404) return response;
        isDeleted = true;
        continue;
      }
      const problem = await copyTo(file, response.value);
      if (problem !== null) return { ok: false, problem };
    }
    return success({ isDeleted });
  } catch (thrown) {
    throw new StateUnwritable(environment, thrown);
  }
}

/** Copies a response to a file. Returns the problem if the connection breaks. */
async function copyTo(file: Deno.FsFile, { body }: Response): Promise<Problem | null> {
  const reader = body?.getReader();
  for (;;) {
    let piece: ReadableStreamReadResult<Uint8Array> | undefined;
    try {
      piece = await reader?.read();
    } catch (thrown) {
      return { code: "provider-error", message: `The results broke off: ${thrownText(thrown)}.` };
    }
    if (piece?.value === undefined) break;
    await writeAll(file, piece.value);
  }
  await write(file, "\n");
  return null;
}

function write(file: Deno.FsFile, text: string): Promise<void> {
  return writeAll(file, new TextEncoder().encode(text));
}

/** Returns the rows of a saved file. A row that is not JSON is skipped: its request counts as not answered. */
export async function* savedRows(path: string): AsyncGenerator<unknown> {
  using file = await Deno.open(path, { read: true });
  const lines = file.readable.pipeThrough(new TextDecoderStream());
  let rest = "";
  for await (const piece of lines) {
    const parts = (rest + piece).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) yield* row(line);
  }
  yield* row(rest);
}

function* row(line: string): Generator<unknown> {
  if (line.trim() === "") return;
  try {
    yield parseExactly(line);
  } catch {
    // The request of a broken row stays open, and the next fetch reads the results again.
  }
}
