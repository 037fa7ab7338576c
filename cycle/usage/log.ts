// The usage log: one append-only JSON Lines file per document, in the state folder.

import type { Environment } from "../../base/environment.ts";
import { isMissing, readOrNull } from "../../base/files.ts";
import { StateUnwritable } from "../../base/folders.ts";
import { documentKey, stateFolder } from "../storage/state_files.ts";
import { readRecord } from "./record.ts";
import type { UsageRecord } from "../types.ts";

export interface UsageLog {
  /** Appends a record to the records of its document. */
  record(record: UsageRecord): Promise<void>;
}

const UNSAVED = "unsaved";

/** Returns the usage log of this user. Nothing is created before the first record. */
export function openUsageLog(environment: Environment): UsageLog {
  return {
    async record(record) {
      const folder = folderOf(environment);
      const name = record.document === null ? UNSAVED : await documentKey(record.document);
      try {
        await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
        // Each record is written as one line in one write, because other runs append to the same file.
        await Deno.writeTextFile(`${folder}/${name}.jsonl`, `${JSON.stringify(record)}\n`, {
          append: true,
          mode: 0o600,
        });
      } catch (thrown) {
        throw new StateUnwritable(environment, thrown);
      }
    },
  };
}

/** Returns the records of a document, oldest first; null means all unsaved documents. */
export async function recordsOf(
  environment: Environment,
  document: string | null,
): Promise<readonly UsageRecord[]> {
  const name = document === null ? UNSAVED : await documentKey(document);
  return await read(`${folderOf(environment)}/${name}.jsonl`);
}

/** Returns all records by the document that they name; those of unsaved documents are under null. */
export async function allRecords(
  environment: Environment,
): Promise<ReadonlyMap<string | null, readonly UsageRecord[]>> {
  const found = new Map<string | null, readonly UsageRecord[]>();
  for (const name of await namesIn(folderOf(environment))) {
    const records = await read(`${folderOf(environment)}/${name}`);
    const [first] = records;
    if (first !== undefined) found.set(first.document, records);
  }
  return found;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) if (name.endsWith(".jsonl")) names.push(name);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
  return names.sort();
}

async function read(path: string): Promise<readonly UsageRecord[]> {
  const bytes = await readOrNull(path);
  if (bytes === null) return [];
  const records = new TextDecoder().decode(bytes).split("\n").map(readRecord).filter((record) =>
    record !== null
  );
  return eachItemOnce(records);
}

/** Omits repeated records of one request: after a kill, the reply of a batch is written again. */
function eachItemOnce(records: readonly UsageRecord[]): readonly UsageRecord[] {
  const items = new Set<string>();
  return records.filter(({ item }) => {
    if (item === undefined) return true;
    const isNew = !items.has(item);
    items.add(item);
    return isNew;
  });
}

function folderOf(environment: Environment): string {
  return `${stateFolder(environment)}/usage`;
}
