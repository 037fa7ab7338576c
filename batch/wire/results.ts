// Reads the results of a batch row by row, so that memory holds one row at a time.

import type { Outcome } from "../../base/problem.ts";
import { success } from "../../base/problem.ts";
import { parseExactly } from "../../base/text/exact_json.ts";
import type { ResultSource } from "../types.ts";
import type { BatchClient } from "./client.ts";

/**
 * Saves the results of a batch in a file, so that no connection stays open while replies are written and calls run.
 *
 * @returns how many bytes were saved
 */
export async function saveResults(
  client: BatchClient,
  sources: readonly ResultSource[],
  path: string,
): Promise<Outcome<number>> {
  using file = await Deno.open(path, { create: true, write: true, truncate: true, mode: 0o600 });
  let size = 0;
  for (const source of sources) {
    if (source.kind === "rows") {
      for (const row of source.rows) size += await write(file, `${JSON.stringify(row)}\n`);
      continue;
    }
    const response = await client.lines(source.url);
    if (!response.ok) return response;
    for await (const piece of response.value.body ?? []) size += await writeBytes(file, piece);
    size += await write(file, "\n");
  }
  return success(size);
}

function write(file: Deno.FsFile, text: string): Promise<number> {
  return writeBytes(file, new TextEncoder().encode(text));
}

async function writeBytes(file: Deno.FsFile, bytes: Uint8Array): Promise<number> {
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  return bytes.length;
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
