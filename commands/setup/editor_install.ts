// Puts files into a folder of their own, again and again: what a person changed there is never overwritten unasked.

import { isThere, readOrNull, replaceSmallFile } from "../../base/files.ts";
import { sha256 } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import { parentOf } from "../../base/paths.ts";
import { VERSION } from "../line/version.ts";

/** Says which files were put there, by which version, and what they were like. */
const NOTE = ".flemma.json";
/** What a person made of a file of ours, put aside. */
const ASIDE = ".yours";

/** What stands in a folder, compared with what belongs there. */
export interface Installed {
  /** `current` is all as it belongs; `older` was put there by another version; `changed` holds work of a person. */
  readonly state: "absent" | "current" | "older" | "changed";
  /** Who put it there; null when nobody did. */
  readonly version: string | null;
  /** Files that a person changed, or that stood there before. */
  readonly changed: readonly string[];
  /** Files that differ from what belongs there, or are missing, or belong there no more; those of a person among them. */
  readonly stale: readonly string[];
}

/** Looks at a folder. Nothing is changed. */
export async function inspectFolder(
  folder: string,
  files: Readonly<Record<string, string>>,
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
 * Makes the folder hold the files. What a person changed is put aside beside its new text, so the caller asks first.
 *
 * @returns the paths where work of the person was put
 */
export async function installInto(
  folder: string,
  files: Readonly<Record<string, string>>,
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
    await replaceSmallFile(path, new TextEncoder().encode(wanted), { durable: false });
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

/** Keeps a text of a person beside its file; answers where. */
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
  /** Path → hash of the text that was put there. */
  readonly files: Readonly<Record<string, unknown>>;
}

/** What was noted at the last time; null without one. A note that is none makes every file count as the person's. */
async function noteOf(folder: string): Promise<Note | null> {
  const bytes = await readOrNull(`${folder}/${NOTE}`);
  if (bytes === null) return null;
  try {
    const note: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isObject(note) && typeof note.version === "string" && isObject(note.files)) {
      return { version: note.version, files: note.files };
    }
  } catch {
    // Not even JSON: the same.
  }
  return null;
}
