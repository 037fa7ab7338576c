// The documents of a batch command: from the command line, a list in a file, or standard input.

import type { Invocation } from "../../invocation.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import { absolutePath } from "../../../base/paths.ts";
import { readRegular } from "../../../base/system/regular_file.ts";
import { knownPath } from "../../../cycle/storage/read.ts";
import { switchOption, textOption } from "../../line/options.ts";

/** Returns the named documents, each once, under the first of its names. */
export async function namedDocuments(invocation: Invocation): Promise<Outcome<readonly string[]>> {
  const { arguments: given, environment } = invocation;
  const { positionals } = given;
  const list = textOption(given, "from");
  const isZero = switchOption(given, "null") === true;
  if (isZero && list === undefined && !positionals.includes("-")) {
    return failure("usage", "-0 needs a list: --from LIST, or - for standard input.");
  }
  const names = positionals.filter((name) => name !== "-");
  if (positionals.includes("-")) {
    const read = namesIn(invocation.input.read().bytes, isZero, "standard input");
    if (!read.ok) return read;
    names.push(...read.value);
  }
  if (list !== undefined) {
    let bytes: Uint8Array;
    try {
      bytes = await readRegular(absolutePath(environment, list));
    } catch (thrown) {
      return failure("list-unreadable", `The list ${list} cannot be read: ${thrownText(thrown)}.`);
    }
    const read = namesIn(bytes, isZero, list);
    if (!read.ok) return read;
    names.push(...read.value);
  }
  const byPath = new Map<string, string>();
  for (const name of names) {
    const path = await knownPath(environment, name);
    if (!byPath.has(path)) byPath.set(path, name);
  }
  return success([...byPath.values()]);
}

/** Reads a list of names, one per line or each ended by a zero byte. */
function namesIn(bytes: Uint8Array, isZero: boolean, list: string): Outcome<readonly string[]> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return failure("list-unreadable", `The list in ${list} is not UTF-8 text.`);
  }
  if (!isZero && text.includes("\0")) {
    return failure("list-unreadable", `The list in ${list} has zero bytes.`, "Read it with -0.");
  }
  const names = text.split(isZero ? "\0" : /\r?\n/).filter((name) => name.trim() !== "");
  return success(names);
}
