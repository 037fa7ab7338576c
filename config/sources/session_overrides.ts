// Session overrides: temporary settings for all documents or for one, stored in small files.

import type { Environment } from "../../base/environment.ts";
import { sessionFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import type { SettingOperation } from "../types.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { changeJson, readJson } from "./json_file.ts";

export interface SessionFile {
  readonly version: 1;
  readonly created: string;
  /** ISO date at which the overrides expire; null if the folder itself is deleted at logout. */
  readonly expires: string | null;
  /** Real path of the document; absent in the file for all documents. */
  readonly document?: string;
  readonly ops: readonly SettingOperation[];
}

/** Milliseconds until overrides expire on systems where logout does not delete them. */
const LIFETIME = 12 * 60 * 60 * 1000;

/** Returns the path of the file for one document (by its real path), or for all documents. */
export async function sessionPath(environment: Environment, document: string | null): Promise<string> {
  const name = document === null ? "default" : (await sha256(document)).slice(0, 32);
  return `${sessionFolder(environment).path}/${name}.json`;
}

/**
 * Returns the operations of the session layer: those for all documents first, then those for this document. The caller
 * checks them on replay, because another version may have written the file.
 */
export async function readSession(
  environment: Environment,
  document: string | null,
  now: Date,
): Promise<Outcome<readonly { readonly path: string; readonly operations: readonly SettingOperation[] }[]>> {
  const found: { path: string; operations: readonly SettingOperation[] }[] = [];
  for (const which of document === null ? [null] : [null, document]) {
    const path = await sessionPath(environment, which);
    const content = readJson(path);
    if (!content.ok) return content;
    const file = fileOf(content.value, path);
    if (!file.ok) return file;
    if (file.value !== null && !isOver(file.value, now)) found.push({ path, operations: file.value.ops });
  }
  return success(found);
}

/**
 * Adds operations to a session file. A later `set` replaces earlier operations on the same key, and a repeated
 * operation keeps only its last occurrence.
 */
export function addToSession(
  environment: Environment,
  document: string | null,
  operations: readonly SettingOperation[],
  now: Date,
): Promise<Outcome<void>> {
  return changeSession(environment, document, now, (ops) => {
    const replaced = new Set(operations.filter(({ op }) => op === "set").map(({ path }) => path.join(".")));
    const again = new Set(operations.map(textOf));
    const kept = ops.filter((op) => !replaced.has(op.path.join(".")) && !again.has(textOf(op)));
    return [...kept, ...operations];
  });
}

/** Removes one operation from a session file; false if it was not there. */
export async function takeFromSession(
  environment: Environment,
  document: string | null,
  operation: SettingOperation,
  now: Date,
): Promise<Outcome<boolean>> {
  let there = false;
  const outcome = await changeSession(environment, document, now, (ops) => {
    const kept = ops.filter((op) => textOf(op) !== textOf(operation));
    there = kept.length < ops.length;
    return kept;
  });
  return outcome.ok ? success(there) : outcome;
}

function textOf({ op, path, value }: SettingOperation): string {
  return JSON.stringify([op, path, value]);
}

/** Removes keys and everything below them from a session file, or all keys. Returns true if something was removed. */
export async function resetSession(
  environment: Environment,
  document: string | null,
  keys: readonly string[] | null,
  now: Date,
): Promise<Outcome<boolean>> {
  let there = false;
  const outcome = await changeSession(environment, document, now, (ops) => {
    const kept = keys === null ? [] : ops.filter(({ path }) => {
      const key = path.join(".");
      return !keys.some((gone) => key === gone || key.startsWith(`${gone}.`));
    });
    there = kept.length < ops.length;
    return kept;
  });
  return outcome.ok ? success(there) : outcome;
}

async function changeSession(
  environment: Environment,
  document: string | null,
  now: Date,
  change: (ops: readonly SettingOperation[]) => readonly SettingOperation[],
): Promise<Outcome<void>> {
  const path = await sessionPath(environment, document);
  return await changeJson(path, (content) => {
    const before = fileOf(content, path);
    if (!before.ok) return before;
    const old = before.value === null || isOver(before.value, now) ? null : before.value;
    const ops = change(old?.ops ?? []);
    if (ops.length === 0) return success(null);
    const expires = sessionFolder(environment).endsWithSession
      ? null
      : new Date(now.getTime() + LIFETIME).toISOString();
    return success(
      {
        version: 1,
        created: old?.created ?? now.toISOString(),
        expires,
        ...(document === null ? {} : { document }),
        ops,
      } satisfies SessionFile,
    );
  });
}

function fileOf(content: unknown, path: string): Outcome<SessionFile | null> {
  if (content === null) return success(null);
  const { version, ops } = content as Partial<SessionFile>;
  const sound = version === 1 && Array.isArray(ops) &&
    ops.every((op) =>
      typeof op === "object" && op !== null && ["set", "append", "prepend", "remove"].includes(op.op) &&
      Array.isArray(op.path) && op.path.every((name: unknown) => typeof name === "string")
    );
  return sound ? success(content as SessionFile) : failure(
    "file-broken",
    `${path} contains no session settings that this version can read.`,
    "Remove it: flemma session reset.",
  );
}

function isOver(file: SessionFile, now: Date): boolean {
  return file.expires !== null && new Date(file.expires) <= now;
}
