// Installs and updates files in a folder, and never overwrites a person's changes without asking.

import { isThere, readOrNull, replaceSmallFile } from "../../base/files.ts";
import { sha256 } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import { parentOf } from "../../base/paths.ts";
import { VERSION } from "../line/version.ts";

/** Records the installed files, their version and their hashes. */
const NOTE = ".flemma.json";
/** Suffix of a file with a person's changes that was moved aside. */
const ASIDE = ".yours";

export interface Installed {
  /**
   * `current`: all files are as they should be; `older`: installed by another version; `changed`: contains changes by
   * a person.
   */
  readonly state: "absent" | "current" | "older" | "changed";
  /** The version that installed the files; null if none did. */
  readonly version: string | null;
  /** Files that a person changed, or that existed before the installation. */
  readonly changed: readonly string[];
  /**
   * Files that differ, are missing or are no longer part of the installation, including those that a person changed.
   */
  readonly stale: readonly string[];
}

/** Files to install, by their path in the folder. */
export type InstallFiles = Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>;

/** Compares a folder with the files; changes nothing. */
export async function inspectFolder(
  folder: string,
  files: InstallFiles,
): Promise<Installed> {
  const note = await noteOf(folder);
  const known = note?.files ?? {};
  const changed: string[] = [];
  const stale: string[] = [];
  for (const name of new Set([...Object.keys(files), ...Object.keys(known)])) {
    const bytes = await readOrNull(`${folder}/${name}`);
    if (bytes === null) {
      if (name in files) stale.push(name);
      continue;
    }
    const there = await sha256(bytes as Uint8Array<ArrayBuffer>);
    const wanted = files[name];
    if (wanted !== undefined && there === await sha256(wanted)) continue;
    stale.push(name);
    if (there !== known[name]) changed.push(name);
  }
  const absent = note === null && Object.keys(files).every((name) => !isThere(`${folder}/${name}`));
  const state = absent ? "absent" : changed.length > 0 ? "changed" : stale.length > 0 ? "older" : "current";
  return { state, version: note?.version ?? null, changed, stale };
}

/**
 * Writes the files into the folder. Files that a person changed are moved aside first, so the caller must ask before.
 *
 * @returns the new paths of the person's files
 */
export async function installInto(
  folder: string,
  files: InstallFiles,
  { stale, changed }: Installed,
): Promise<readonly string[]> {
  const aside: string[] = [];
  for (const name of stale) {
    const path = `${folder}/${name}`;
    if (changed.includes(name)) {
      const kept = freeName(`${path}${ASIDE}`);
      await Deno.rename(path, kept);
      aside.push(kept);
    }
    const wanted = files[name];
    if (wanted === undefined) {
      if (isThere(path)) await Deno.remove(path);
      continue;
    }
    await Deno.mkdir(parentOf(path), { recursive: true });
    await replaceSmallFile(path, typeof wanted === "string" ? new TextEncoder().encode(wanted) : wanted, {
      durable: false,
    });
  }
  const hashes = await Promise.all(
    Object.entries(files).map(async ([name, text]) => [name, await sha256(text)]),
  );
  const note = { version: VERSION, files: Object.fromEntries(hashes) };
  await Deno.mkdir(folder, { recursive: true });
  const text = new TextEncoder().encode(`${JSON.stringify(note)}\n`);
  await replaceSmallFile(`${folder}/${NOTE}`, text, { durable: false });
  return aside;
}

/** Saves a copy of a person's text next to its file; returns its path. */
export async function keepCopy(path: string, text: string): Promise<string> {
  const kept = freeName(`${path}${ASIDE}`);
  await Deno.writeTextFile(kept, text, { createNew: true });
  return kept;
}

function freeName(path: string): string {
  let name = path;
  for (let count = 2; isThere(name); count++) name = `${path}.${count}`;
  return name;
}

interface Note {
  readonly version: string;
  /** Hash of the installed text, by path. */
  readonly files: Readonly<Record<string, unknown>>;
}

/**
 * Returns the record of the last installation; null without one. An invalid record makes every file count as the
 * person's.
 */
async function noteOf(folder: string): Promise<Note | null> {
  const bytes = await readOrNull(`${folder}/${NOTE}`);
  if (bytes === null) return null;
  try {
    const note: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isObject(note) && typeof note.version === "string" && isObject(note.files)) {
      return { version: note.version, files: note.files };
    }
  } catch {
    // The text is not JSON, so it is invalid too.
  }
  return null;
}
