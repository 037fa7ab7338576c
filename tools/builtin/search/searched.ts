// Parts that find and grep share: where they search, what they skip, and how an answer is composed.

import { textOrEmpty } from "../../../base/is_object.ts";
import { plural } from "../../../base/text/plural.ts";
import { runWithTimeout } from "../../files/on_disk.ts";
import type { Gaps, SearchOptions } from "../../files/search/search.ts";
import { pathOnOneLine } from "../../files/text/one_line.ts";
import type { ExecutionContext, ExecutionResult, JsonSchema, ToolInput } from "../../definition.ts";
import { STOPPED } from "../../definition.ts";
import { truncateHead } from "../../truncate.ts";
import { fileSentence } from "../file_failures.ts";
import { type PathTarget, placesOf, resolveTarget } from "./folder.ts";

/** Limits of one answer. */
export interface SearchLimits {
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** Names that are skipped by default. */
const EXCLUDED = [".git", "node_modules", "__pycache__", ".venv", "target", "dist", "build", "vendor"];

/** Seconds added to the search's own time limit before the call stops waiting. */
const GRACE = 5;

/** The schema of `tools.find` and `tools.grep`. */
export function searchConfig(): JsonSchema {
  return {
    type: "object",
    properties: {
      cwd: { type: ["string", "null"], default: "urn:flemma:buffer:path" },
      exclude: { type: "array", items: { type: "string" }, default: EXCLUDED },
    },
  };
}

/** Where a search begins. */
export interface SearchPlace extends PathTarget {
  /** Prefix of the paths in an answer; empty for the working folder itself. */
  readonly prefix: string;
}

/** Runs the search of a call, whose `path` is optional; its failures are sentences. */
export async function runSearch(
  input: ToolInput,
  context: ExecutionContext,
  wanted: { readonly folder: boolean },
  search: (
    place: SearchPlace,
    options: Omit<SearchOptions, "limit">,
    signal: AbortSignal,
  ) => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const shown = textOrEmpty(input.path) || ".";
  const places = placesOf(context);
  const config = context.getConfig()?.exclude;
  const excluded = Array.isArray(config) ? config.filter((name) => typeof name === "string") : EXCLUDED;
  const work = async (signal: AbortSignal): Promise<ExecutionResult> => {
    const place = await resolveTarget(shown, places);
    if (wanted.folder && !place.info.isDirectory) {
      return { success: false, error: `${shown} is not a folder. Use grep or read for a file.` };
    }
    if (!place.info.isDirectory && !place.info.isFile) {
      return { success: false, error: `${shown} is a pipe, socket or device, not a regular file.` };
    }
    const resolved = places.path.resolve(shown);
    const prefix = prefixOf(shown, resolved, context.cwd);
    const options = { start: place.real, excluded, seconds: context.timeout };
    return await search({ ...place, prefix }, options, signal);
  };
  try {
    // The search has its own time limit, and then returns what it found so far.
    return await runWithTimeout({ timeout: context.timeout + GRACE, signal: context.signal }, work);
  } catch (thrown) {
    if (context.signal.aborted) return { success: false, error: STOPPED };
    return {
      success: false,
      error: await fileSentence(shown, "read", thrown, places, wanted.folder ? "folder" : "folder or file"),
    };
  }
}

/**
 * Returns the prefix of the paths in an answer. Paths below the working folder are shown relative to that folder; other
 * paths begin with the path that the model wrote.
 */
function prefixOf(shown: string, resolved: string, cwd: string): string {
  if (resolved === cwd) return "";
  if (cwd === "/") return resolved.slice(1);
  return resolved.startsWith(`${cwd}/`) ? resolved.slice(cwd.length + 1) : shown.replace(/(?<=.)\/+$/, "");
}

/** Returns a path as an answer shows it, in a form that cannot break its line. */
export function formatPath({ prefix }: SearchPlace, path: string): string {
  const joined = prefix === "" || path === ""
    ? `${prefix}${path}`
    : `${prefix}${prefix.endsWith("/") ? "" : "/"}${path}`;
  return pathOnOneLine(joined);
}

/** Composes an answer: the lines that fit, and below them notes in brackets. */
export function answer(
  nothing: string,
  lines: readonly string[],
  notes: (shown: number) => readonly string[],
  { timedOut }: Gaps,
  { maxLines, maxBytes, seconds }: SearchLimits & { readonly seconds: number },
): ExecutionResult {
  const { content, output_lines } = truncateHead(lines.join("\n"), { maxLines, maxBytes });
  const noteTexts = notes(lines.length === 0 ? 0 : output_lines);
  const note = noteTexts.length === 0 ? "" : `[${noteTexts.join(", ")}]`;
  const whole = [content || (timedOut ? "" : nothing), note].filter((part) => part !== "").join("\n\n");
  if (!timedOut) return { success: true, output: whole };
  const sentence = `The search timed out after ${plural(seconds, "second")}. Search a smaller folder.`;
  return { success: false, error: whole === "" ? sentence : `${whole}\n\n${sentence}`, status: sentence };
}

/** Returns a note about a count; empty if the count is zero. */
export function noteCount(count: number, noun: string, what: string): string[] {
  return count === 0 ? [] : [`${plural(count, noun)} ${what}`];
}
