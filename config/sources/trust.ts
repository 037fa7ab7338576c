// Trust: records which files of a folder the person has read and agreed to, by hash.

import type { Environment } from "../../base/environment.ts";
import { MOST_OF_CODE, readRegular } from "../../base/system/regular_file.ts";
import { stateFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import { followImports, unfollowedSentence } from "../code/imports.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { changeJson, readJson } from "./json_file.ts";

/** The files that belong to an agreement. */
export interface AgreedFiles {
  /** Files that are run. Their imports belong to the agreement too. */
  readonly code?: readonly string[];
  /** Files that are only read. */
  readonly data?: readonly string[];
}

/** One agreement: a file and the files it loads, each with its content at that time. */
export interface TrustEntry {
  /** Absolute real path. */
  readonly path: string;
  readonly hash: string;
  /** Files loaded as code: the files that the agreed file names, and the files that these import. */
  readonly files: readonly { readonly path: string; readonly hash: string }[];
  /** Time of the agreement as an ISO date. */
  readonly at: string;
}

interface TrustFile {
  readonly version: 1;
  readonly entries: readonly TrustEntry[];
}

export function trustPath(environment: Environment): string {
  return `${stateFolder(environment)}/trust.json`;
}

export function trustedEntries(environment: Environment): Outcome<readonly TrustEntry[]> {
  const content = readJson(trustPath(environment));
  if (!content.ok) return content;
  return entriesOf(content.value, trustPath(environment));
}

/**
 * True if the person agreed to exactly this content, and to the current content of the files it names and of their
 * imports. Code with an import that cannot be followed is never trusted, because a change of what it loads would not
 * be noticed.
 */
export async function isTrusted(
  environment: Environment,
  path: string,
  text: string,
  files: AgreedFiles = {},
): Promise<Outcome<boolean>> {
  const entries = trustedEntries(environment);
  if (!entries.ok) return entries;
  const entry = entries.value.find((entry) => entry.path === path);
  if (entry === undefined || entry.hash !== await sha256(text)) return success(false);
  const now = await hashFiles(files, environment.home);
  if (!now.ok) return success(false);
  const then = new Map(entry.files.map((file) => [file.path, file.hash]));
  return success(
    then.size === now.value.length && now.value.every((file) => then.get(file.path) === file.hash),
  );
}

/**
 * Records the content of a file, of every file it names, and of their imports. Fails with `file-unreadable` or
 * `import-unfollowed`.
 */
export async function recordTrust(
  environment: Environment,
  path: string,
  text: Uint8Array<ArrayBuffer> | string,
  files: AgreedFiles,
  now: Date,
): Promise<Outcome<TrustEntry>> {
  const hashed = await hashFiles(files, environment.home);
  if (!hashed.ok) return hashed;
  const entry: TrustEntry = { path, hash: await sha256(text), files: hashed.value, at: now.toISOString() };
  const file = trustPath(environment);
  const written = await changeJson(file, (content) => {
    const entries = entriesOf(content, file);
    if (!entries.ok) return entries;
    const others = entries.value.filter((other) => other.path !== path);
    const entriesNow = [...others, entry].sort((a, b) => (a.path < b.path ? -1 : 1));
    return success({ version: 1, entries: entriesNow } satisfies TrustFile);
  });
  return written.ok ? success(entry) : written;
}

/** Revokes an agreement; false if there was none. */
export async function revokeTrust(environment: Environment, path: string): Promise<Outcome<boolean>> {
  let there = false;
  const file = trustPath(environment);
  const written = await changeJson(file, (content) => {
    const entries = entriesOf(content, file);
    if (!entries.ok) return entries;
    there = entries.value.some((entry) => entry.path === path);
    return success(
      { version: 1, entries: entries.value.filter((entry) => entry.path !== path) } satisfies TrustFile,
    );
  });
  return written.ok ? success(there) : written;
}

async function hashFiles(
  { code = [], data = [] }: AgreedFiles,
  home: string,
): Promise<Outcome<{ path: string; hash: string }[]>> {
  const { files, unfollowed: [unfollowed] } = await followImports(code, home);
  if (unfollowed !== undefined) {
    return failure(
      "import-unfollowed",
      unfollowedSentence(unfollowed),
      "Write the path as one text that begins with ./, ../, / or file:, because flemma compares what is imported.",
    );
  }
  const hashed: { path: string; hash: string }[] = [];
  for (const path of [...new Set([...files, ...data])].sort()) {
    try {
      hashed.push({ path, hash: await sha256(await readRegular(path, MOST_OF_CODE)) });
    } catch (thrown) {
      return failure(
        "file-unreadable",
        `${path} cannot be read: ${thrownText(thrown)}.`,
        "A named file must exist to be trusted.",
      );
    }
  }
  return success(hashed);
}

function entriesOf(content: unknown, file: string): Outcome<readonly TrustEntry[]> {
  if (content === null) return success([]);
  const { version, entries } = content as Partial<TrustFile>;
  return version === 1 && Array.isArray(entries) ? success(entries) : failure(
    "file-broken",
    `${file} is not a list of trusted files that this version can read.`,
    `Remove ${file} to revoke all trust and start again.`,
  );
}
