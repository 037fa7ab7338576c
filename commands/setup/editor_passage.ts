// A passage of ours in a settings file of a person, for editors that look nowhere else: put in, brought up to date, never over theirs.

import { readOrNull, rewriteFile } from "../../base/files.ts";
import { sha256 } from "../../base/hash.ts";
import { parentOf } from "../../base/paths.ts";
import { VERSION } from "../line/version.ts";

/** What a file of a person holds of a passage. */
export interface FoundPassage {
  /**
   * `current` as it belongs; `older` put there by another version; `changed` by the person since; `taken` is not ours, but
   * says something of the same things, so that both would not go together.
   */
  readonly state: "absent" | "current" | "older" | "changed" | "taken";
  /** Who put it there; null when nobody did. */
  readonly version: string | null;
}

/** The lines around a passage. The first tells what it was like, so that a change of the person is known. */
const BEGIN = /^# flemma begin, version (\S+), ([0-9a-f]{16})\n/m;
const END = "# flemma end\n";

/** Where the passage is in a text, its lines around it included; null without one, also where its end is missing. */
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
 * Looks at a text for a passage.
 *
 * @param text all of the file; null where there is none
 * @param conflict what must not stand elsewhere in the file
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

/** The text with the passage in it: where it was, or at the end. All else stays byte for byte. */
export async function withPassage(text: string | null, passage: string): Promise<string> {
  const ours = `# flemma begin, version ${VERSION}, ${await hashOf(passage)}\n${passage}${END}`;
  const place = placeOf(text ?? "");
  if (place !== null) return text!.slice(0, place.from) + ours + text!.slice(place.to);
  if (text === null || text === "") return ours;
  return `${text}${text.endsWith("\n") ? "" : "\n"}\n${ours}`;
}

/** The text of a person's file; null where there is none. Throws when it is no text. */
export async function readSettings(path: string): Promise<string | null> {
  const bytes = await readOrNull(path);
  return bytes === null ? null : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** Writes a person's file anew, and the folder of one that is not there yet. */
export async function writeSettings(path: string, text: string): Promise<void> {
  await Deno.mkdir(parentOf(path), { recursive: true });
  await rewriteFile(path, text);
}
