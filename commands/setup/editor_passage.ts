// Maintains a passage in a person's settings file, for editors that read no other file, and leaves the other text
// unchanged.

import { readOrNull, rewriteFile } from "../../base/files.ts";
import { sha256 } from "../../base/hash.ts";
import { parentOf } from "../../base/paths.ts";
import { VERSION } from "../line/version.ts";

export interface FoundPassage {
  /**
   * `current`: the passage is as it should be; `older`: another version wrote it; `changed`: the person changed it
   * later; `taken`: the person's own lines configure the same things, so they would conflict with the passage.
   */
  readonly state: "absent" | "current" | "older" | "changed" | "taken";
  /** The version that wrote the passage; null if there is none. */
  readonly version: string | null;
}

/**
 * The lines around a passage. The first line holds the passage's hash, so that later changes by the person are
 * recognized.
 */
const BEGIN = /^# flemma begin, version (\S+), ([0-9a-f]{16})\n/m;
const END = "# flemma end\n";

/**
 * Finds the passage with its surrounding lines; null if it or its end is missing. `from` and `to` are offsets
 * in the text.
 */
function placeOf(
  text: string,
): { from: number; to: number; version: string; hash: string; body: string } | null {
  const begin = BEGIN.exec(text);
  if (begin === null) return null;
  const [line, version = "", hash = ""] = begin;
  const end = text.indexOf(END, begin.index);
  if (end < 0) return null;
  return {
    from: begin.index,
    to: end + END.length,
    version,
    hash,
    body: text.slice(begin.index + line.length, end),
  };
}

async function hashOf(passage: string): Promise<string> {
  return (await sha256(passage)).slice(0, 16);
}

/**
 * Determines the state of the passage.
 *
 * @param text the whole file; null if there is none
 * @param conflict matches lines that conflict with the passage; no such line may exist outside of the passage
 */
export async function findPassage(
  text: string | null,
  passage: string,
  conflict: RegExp,
): Promise<FoundPassage> {
  const place = placeOf(text ?? "");
  const rest = place === null ? text ?? "" : text!.slice(0, place.from) + text!.slice(place.to);
  const version = place?.version ?? null;
  if (conflict.test(rest) || rest.includes("# flemma begin")) return { state: "taken", version };
  if (place === null) return { state: "absent", version };
  if (place.body === passage) return { state: "current", version };
  return { state: place.hash === await hashOf(place.body) ? "older" : "changed", version };
}

/** Returns the text with the passage where it was, or at the end. All other bytes stay unchanged. */
export async function withPassage(text: string | null, passage: string): Promise<string> {
  const ours = `# flemma begin, version ${VERSION}, ${await hashOf(passage)}\n${passage}${END}`;
  const place = placeOf(text ?? "");
  if (place !== null) return text!.slice(0, place.from) + ours + text!.slice(place.to);
  if (text === null || text === "") return ours;
  return `${text}${text.endsWith("\n") ? "" : "\n"}\n${ours}`;
}

/** Returns the text of a person's file; null if there is none. Throws if it is not valid UTF-8. */
export async function readSettings(path: string): Promise<string | null> {
  const bytes = await readOrNull(path);
  return bytes === null ? null : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** Rewrites a person's file; creates its folder if needed. */
export async function writeSettings(path: string, text: string): Promise<void> {
  await Deno.mkdir(parentOf(path), { recursive: true });
  await rewriteFile(path, text);
}
