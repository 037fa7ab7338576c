// The documents of a batch command: from the command line, a list in a file, or standard input.

import type { SettingsHost } from "../../../agent/settings.ts";
import type { ChatOptions } from "../../../agent/types.ts";
import { hostOptions } from "../../document/host.ts";
import type { Invocation } from "../../invocation.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import { absolutePath } from "../../../base/paths.ts";
import { readRegular } from "../../../base/system/regular_file.ts";
import { knownPath } from "../../../cycle/storage/read.ts";
import { numberOption, switchOption, textOption } from "../../line/options.ts";

/** What a batch command works with. */
interface BatchCommand {
  readonly host: ChatOptions & SettingsHost;
  readonly files: readonly string[];
  /** Documents to work on in parallel. */
  readonly jobs: number;
}

/** Reads the options and documents of a batch command. */
export async function batchCommand(invocation: Invocation): Promise<Outcome<BatchCommand>> {
  const host = hostOptions(invocation);
  if (!host.ok) return host;
  const files = await namedDocuments(invocation);
  if (!files.ok) return files;
  const jobs = numberOption(invocation.arguments, "jobs") ?? 1;
  if (jobs < 1) return failure("usage", "--jobs needs a number of 1 or more.");
  return success({ host: host.value, files: files.value, jobs });
}

/** Returns the named documents, each once, under the first of its names. */
async function namedDocuments(invocation: Invocation): Promise<Outcome<readonly string[]>> {
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
