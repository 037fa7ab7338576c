// The document of a command: a file that is changed in place, or standard input that comes back on standard output.

import {
  blocksOf,
  type SettingsSubject,
  type SubjectSettings,
  subjectSettings,
} from "../../agent/settings.ts";
import type { ChatOptions, ChatSession } from "../../agent/types.ts";
import type { Environment } from "../../base/environment.ts";
import { absolutePath } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { checkText, knownPath, readDocument } from "../../cycle/storage/read.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { hostOptions } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { Interrupts } from "../io/interrupt.ts";
import { refuse } from "../io/refuse.ts";
import { passRestThrough, readInput, writeOutput } from "../io/streams.ts";
import { numberOption, switchOption, textOption } from "../line/options.ts";
import { asFragment } from "./fragment.ts";

/** The document that a command works on. */
export interface OpenDocument {
  readonly mode: "file" | "filter";
  /** How messages call it: as the person named it. */
  readonly label: string;
  /** Positional arguments after the document. */
  readonly targets: readonly string[];
  readonly interrupts: Interrupts;
  readonly session: ChatSession;
}

export interface DocumentOptions extends Pick<ChatOptions, "emit"> {
  /** Whether a piece of a document, as an editor pipes it, is taken for one too. @default false */
  readonly fragments?: boolean;
}

/** Everything that a session takes, for the commands that open one: those that only read go without. */
const loadAgent = () => import("../../agent/open.ts");

/** What the command line calls its document. */
export function labelOf({ arguments: given }: Invocation): string {
  const [file] = given.positionals;
  return file === undefined || file === "-" ? textOption(given, "name") ?? "-" : file;
}

/**
 * Opens the document a command line names and runs `body` with it. In filter mode the whole document is written to
 * standard output exactly once, however `body` ends: as it is then, at least as it came (cli section 3).
 */
export async function withDocument(
  invocation: Invocation,
  options: DocumentOptions,
  body: (document: OpenDocument) => Promise<number>,
): Promise<number> {
  const [file, ...targets] = invocation.arguments.positionals;
  if (file === undefined || file === "-") return await filter(invocation, targets, options, body);
  const host = hostOptions(invocation);
  if (!host.ok) return refuse(invocation, host.problem);
  const { messages } = invocation;
  const interrupts = new Interrupts((fault) => tellFault(invocation, fault));
  try {
    const { openChat } = await loadAgent();
    const opened = await openChat(file, {
      ...host.value,
      emit: options.emit,
      signal: interrupts.signal,
      wait: numberOption(invocation.arguments, "wait") ?? 0,
      notify: (notice) => messages.notice(notice),
    });
    if (!opened.ok) return interrupts.received ? Exit.interrupted : refuse(invocation, opened.problem);
    await using session = opened.value;
    return await body({ mode: "file", label: file, targets, interrupts, session });
  } finally {
    interrupts.dispose();
  }
}

function tellFault({ messages }: Invocation, fault: string | null): void {
  if (fault !== null) messages.say(`flemma: This is a fault of the program: ${fault}`);
}

async function filter(
  invocation: Invocation,
  targets: readonly string[],
  options: DocumentOptions,
  body: (document: OpenDocument) => Promise<number>,
): Promise<number> {
  const { messages } = invocation;
  const input = inputOf(invocation);
  if (input === null) return Exit.failure;
  let current = () => input.bytes;
  let written = false;
  const finish = () => {
    if (written) return;
    written = true;
    writeOutput(current());
    if (!input.complete) passRestThrough();
  };
  const interrupts = new Interrupts((fault) => {
    tellFault(invocation, fault);
    finish();
    messages.close();
  });
  try {
    const refused = refusalOf(input);
    if (refused !== null) return refuse(invocation, refused);
    const fragment = options.fragments === true ? asFragment(input.bytes) : null;
    const opened = await inMemory(invocation, fragment?.bytes ?? input.bytes, {
      emit: options.emit,
      signal: interrupts.signal,
    });
    if (!opened.ok) return refuse(invocation, opened.problem);
    await using session = opened.value;
    current = () => fragment === null ? session.chat.bytes : fragment.unwrap(session.chat.bytes);
    const code = await body({ mode: "filter", label: labelOf(invocation), targets, interrupts, session });
    const asked = switchOption(invocation.arguments, "exit-code") === true;
    return code === Exit.person && !asked ? Exit.ok : code;
  } finally {
    finish();
    interrupts.dispose();
  }
}

async function inMemory(
  invocation: Invocation,
  bytes: Uint8Array,
  options: Pick<ChatOptions, "emit" | "signal"> = {},
): Promise<Outcome<ChatSession>> {
  const host = hostOptions(invocation);
  if (!host.ok) return host;
  const path = textOption(invocation.arguments, "name") ?? null;
  const { chatInMemory } = await loadAgent();
  return await chatInMemory(bytes, { ...host.value, ...options, path });
}

type Input = ReturnType<typeof readInput>;

/** All of standard input, or null after saying why it cannot be read. */
function inputOf({ messages }: Invocation): Input | null {
  try {
    return readInput();
  } catch (thrown) {
    messages.say(`flemma: standard input cannot be read: ${thrownText(thrown)}.`);
    return null;
  }
}

/** Why standard input is no document; null when it is one. */
function refusalOf({ bytes, complete }: Input): Problem | null {
  if (complete) return checkText(bytes, null);
  return {
    code: "document-too-large",
    message: "standard input: the document is larger than 1 GiB.",
  };
}

/** The bytes of standard input for a report, or the exit code after saying what is wrong with them. */
function reportInput(invocation: Invocation): Uint8Array | { readonly exit: number } {
  const input = inputOf(invocation);
  if (input === null) return { exit: Exit.failure };
  const refused = refusalOf(input);
  return refused === null ? input.bytes : { exit: refuse(invocation, refused) };
}

/** Opens a document only to look at it: no lock, nothing written, standard input when no file is named. */
export async function openForReport(
  invocation: Invocation,
): Promise<{ readonly label: string; readonly session: ChatSession } | { readonly exit: number }> {
  const [file] = invocation.arguments.positionals;
  const host = hostOptions(invocation);
  if (!host.ok) return { exit: refuse(invocation, host.problem) };
  let opened: Outcome<ChatSession>;
  if (file === undefined || file === "-") {
    const bytes = reportInput(invocation);
    if ("exit" in bytes) return bytes;
    opened = await inMemory(invocation, bytes);
  } else {
    const { openChat } = await loadAgent();
    opened = await openChat(file, { ...host.value, readOnly: true });
  }
  if (!opened.ok) return { exit: refuse(invocation, opened.problem) };
  return { label: labelOf(invocation), session: opened.value };
}

/** A document as a report reads it, nothing evaluated. */
export interface ReadText {
  readonly label: string;
  /** The real path; null when the text has none. */
  readonly path: string | null;
  readonly chat: Chat;
}

/** Reads a document, from standard input when no file is named. */
export async function readForReport(
  invocation: Invocation,
  file: string | undefined,
): Promise<ReadText | { readonly exit: number }> {
  const { environment } = invocation;
  if (file !== undefined && file !== "-") {
    const read = await readDocument(file, environment);
    if (!read.ok) return { exit: refuse(invocation, read.problem) };
    return { label: file, path: read.value.realPath, chat: parse(read.value.bytes) };
  }
  const bytes = reportInput(invocation);
  if ("exit" in bytes) return bytes;
  const name = textOption(invocation.arguments, "name");
  const path = name === undefined ? null : await knownPath(environment, name);
  return { label: name ?? "-", path, chat: parse(bytes) };
}

/** The settings of a document under this command line. */
export async function settingsFor(
  invocation: Invocation,
  subject: SettingsSubject,
): Promise<Outcome<SubjectSettings>> {
  const host = hostOptions(invocation);
  return host.ok ? await subjectSettings(host.value, subject) : host;
}

/** The document whose policy is asked for, for its settings; no file names none. */
export async function readSubject(
  invocation: Invocation,
  file: string | undefined,
): Promise<SettingsSubject | { readonly exit: number }> {
  if (file === undefined || file === "-") return { path: null, ...blocksOf(null) };
  const read = await readForReport(invocation, file);
  return "exit" in read ? read : { path: read.path, ...blocksOf(read.chat) };
}

/** The real path of the document whose policy is asked for; null when none is named. It must exist. */
export function documentPath(environment: Environment, file: string | undefined): Outcome<string | null> {
  if (file === undefined || file === "-") return success(null);
  try {
    return success(Deno.realPathSync(absolutePath(environment, file)));
  } catch (thrown) {
    return failure("document-missing", `${file}: ${thrownText(thrown)}.`);
  }
}
