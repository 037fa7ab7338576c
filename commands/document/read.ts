// Reads the document of a report and its settings, without opening a session.

import type { DocumentPaths } from "../../agent/sandbox.ts";
import {
  blocksOf,
  type SettingsSubject,
  type SubjectSettings,
  subjectSettings,
} from "../../agent/settings.ts";
import type { Environment } from "../../base/environment.ts";
import { absolutePath } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { checkText, knownPath, readDocument } from "../../cycle/storage/read.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { hostOptions } from "./host.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import type { Input } from "../io/streams.ts";
import { textOption } from "../line/options.ts";

/** Name of the document in messages. */
export function labelOf({ arguments: given }: Invocation): string {
  const [file] = given.positionals;
  return file === undefined || file === "-" ? textOption(given, "name") ?? "-" : file;
}

/** A document that was parsed, without evaluating anything. */
export interface ReadText {
  readonly label: string;
  /** The real path; null if the text has none. */
  readonly path: string | null;
  /** The absolute path as named, with links unresolved. */
  readonly named: string | null;
  /** Path of the document, for commands that messages suggest; null for piped text. */
  readonly file: string | null;
  readonly chat: Chat;
}

/** Reads a document, or standard input if no file is named. */
export async function readForReport(
  invocation: Invocation,
  file: string | undefined,
): Promise<ReadText | { readonly exit: number }> {
  const { environment } = invocation;
  if (file !== undefined && file !== "-") {
    const read = await readDocument(file, environment);
    if (!read.ok) return { exit: refuse(invocation, read.problem) };
    const { realPath, bytes } = read.value;
    return { label: file, file, path: realPath, named: absolutePath(environment, file), chat: parse(bytes) };
  }
  const bytes = reportInput(invocation);
  if ("exit" in bytes) return bytes;
  const path = await namedPath(invocation);
  return {
    label: labelOf(invocation),
    file: null,
    path,
    named: documentName(invocation),
    chat: parse(bytes),
  };
}

/**
 * Reads standard input for a command that only reports on it. Returns the bytes, or the exit code if reading failed
 * and the error was reported.
 */
export function reportInput(invocation: Invocation): Uint8Array | { readonly exit: number } {
  const input = inputOf(invocation);
  if (input === null) return { exit: Exit.failure };
  const refused = refusalOf(input);
  return refused === null ? input.bytes : { exit: refuse(invocation, refused) };
}

/** Returns all of standard input; null after reporting that it cannot be read. */
export function inputOf({ messages, input }: Invocation): Input | null {
  try {
    return input.read();
  } catch (thrown) {
    messages.say(`flemma: standard input cannot be read: ${thrownText(thrown)}.`);
    return null;
  }
}

/** Returns why standard input is not a valid document; null if it is valid. */
export function refusalOf({ bytes, complete }: Input): Problem | null {
  if (complete) return checkText(bytes, null);
  return {
    code: "document-too-large",
    message: "standard input: the document is larger than 512 MB, the maximum size.",
  };
}

/** Returns the absolute path of `--name` for piped text; null without the option. */
export function documentName({ arguments: given, environment }: Invocation): string | null {
  const name = textOption(given, "name");
  return name === undefined ? null : absolutePath(environment, name);
}

/** Like `documentName`, with links followed: the path that identifies the document. */
export async function namedPath({ arguments: given, environment }: Invocation): Promise<string | null> {
  const name = textOption(given, "name");
  return name === undefined ? null : await knownPath(environment, name);
}

/** The settings of a document, with the command line's options. */
export async function settingsFor(
  invocation: Invocation,
  subject: SettingsSubject,
): Promise<Outcome<SubjectSettings>> {
  const host = hostOptions(invocation);
  return host.ok ? await subjectSettings(host.value, subject) : host;
}

/** Reads the document that a settings command names. Without a file, returns an empty subject. */
export async function readSubject(
  invocation: Invocation,
  file: string | undefined,
): Promise<SettingsSubject & DocumentPaths | { readonly exit: number }> {
  if (file === undefined || file === "-") return { path: null, ...blocksOf(null) };
  const read = await readForReport(invocation, file);
  return "exit" in read ? read : { path: read.path, named: read.named, ...blocksOf(read.chat) };
}

/**
 * Returns the real path of the document that a settings command names; null if none is named. The document must exist.
 */
export function documentPath(environment: Environment, file: string | undefined): Outcome<string | null> {
  if (file === undefined || file === "-") return success(null);
  try {
    return success(Deno.realPathSync(absolutePath(environment, file)));
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) {
      return failure("document-missing", `There is no file ${file}.`, "Check the path, or leave it out.");
    }
    return failure("document-unreadable", `${file} cannot be read: ${thrownText(thrown)}.`);
  }
}
