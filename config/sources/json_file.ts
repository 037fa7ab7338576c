// Small JSON files of flemma: read whole, replaced atomically, changed under a lock.

import { explainMissing, isMissing, replaceSmallFile } from "../../base/files.ts";
import { readRegularSync } from "../../base/system/regular_file.ts";
import { faultWords, textFault, textRemedy } from "../../base/text/text_fault.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";

/** Limit on the bytes of a file, far above the size of any settings. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The device that people commonly name in place of an empty file. */
const NO_TEXT = "/dev/null";

/**
 * Returns the text of a file, or null if it is missing. Fails with `file-unreadable`, also for a dangling symbolic
 * link: the file exists, but is not available at the moment.
 *
 * Reads synchronously: every start reads several small or missing files, and waiting costs more than reading. Only
 * regular files are read. Other files may never end, may wait for a writer, or may return their text only once, while
 * settings are read again for each step.
 *
 * @param options.named whether the person named this path; then any size is allowed, and `/dev/null` is an empty file
 */
export function readText(path: string, options: { readonly named?: boolean } = {}): Outcome<string | null> {
  const unreadable = (reason: string, next = "Make it a readable text file.") =>
    failure("file-unreadable", `${path} cannot be read: ${reason}.`, next);
  try {
    const { isFile, isDirectory, isFifo, size } = Deno.statSync(path);
    const named = options.named === true;
    if (isDirectory) return unreadable("it is a folder");
    if (named && isFifo) {
      return unreadable(
        "it is a pipe, which can be read only once",
        "Write the text to a file, and name that file.",
      );
    }
    if (!isFile && !(named && Deno.realPathSync(path) === NO_TEXT)) {
      return unreadable("it is not a regular file");
    }
    if (!named && size > MOST_BYTES) {
      return unreadable(`it is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
    }
    const bytes = isFile ? readRegularSync(path).bytes : new Uint8Array();
    const fault = textFault(bytes);
    if (fault !== null) {
      return unreadable(faultWords(fault), textRemedy(fault, path));
    }
    return success(new TextDecoder().decode(bytes));
  } catch (thrown) {
    if (isMissing(thrown)) {
      const reason = explainMissing(path);
      return reason === null ? success(null) : unreadable(reason, "Repair it, or remove it.");
    }
    return unreadable(thrownText(thrown));
  }
}

/** Parses one of flemma's files. A broken one is an error, because guessing its content could widen rights. */
export function readJson(path: string): Outcome<unknown> {
  const text = readText(path);
  if (!text.ok || text.value === null) return text;
  try {
    return success(JSON.parse(text.value));
  } catch (thrown) {
    return failure(
      "file-broken",
      `${path} is not valid JSON: ${thrownText(thrown)}.`,
      `Remove ${path} to start again.`,
    );
  }
}

/**
 * Changes a JSON file under a lock. `change` returns the new content, or null to remove the file. The folder is created
 * with mode 0700, the file with mode 0600.
 */
export async function changeJson(
  path: string,
  change: (content: unknown) => Outcome<unknown>,
): Promise<Outcome<void>> {
  const folder = path.slice(0, path.lastIndexOf("/"));
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    using lock = await Deno.open(`${path}.lock`, { create: true, write: true, mode: 0o600 });
    await lock.lock(true);
    const before = readJson(path);
    if (!before.ok) return before;
    const after = change(before.value);
    if (!after.ok) return after;
    if (after.value === null) {
      if (before.value !== null) await Deno.remove(path);
      return success(undefined);
    }
    const text = `${JSON.stringify(after.value, null, 2)}\n`;
    await replaceSmallFile(path, new TextEncoder().encode(text), { durable: false });
    return success(undefined);
  } catch (thrown) {
    return failure(
      "state-unwritable",
      `${path} cannot be written: ${thrownText(thrown)}.`,
      `Make ${folder} writable.`,
    );
  }
}
