// The document of a command: a file that is changed in place, or standard input that comes back on standard output.

import type { DocumentPaths } from "../../agent/sandbox.ts";
import {
  blocksOf,
  type SettingsSubject,
  type SubjectSettings,
  subjectSettings,
} from "../../agent/settings.ts";
import type { ChatOptions, ChatSession } from "../../agent/types.ts";
import { nextNeed } from "../../agent/views/next_need.ts";
import type { Environment } from "../../base/environment.ts";
import { sameBytes } from "../../base/bytes.ts";
import { absolutePath } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { InHand } from "../../cycle/storage/in_hand.ts";
import { messagesKey } from "../../cycle/storage/kept_messages.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { checkText, knownPath, readDocument } from "../../cycle/storage/read.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { hostOptions } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { Interrupts } from "../io/interrupt.ts";
import { refuse } from "../io/refuse.ts";
import { FilterOutput } from "../io/filter_output.ts";
import { type Input, passRestThrough } from "../io/streams.ts";
import { numberOption, switchOption, textOption } from "../line/options.ts";
import { asFragment } from "./fragment.ts";

/** The document that a command works on. */
export interface OpenDocument {
  readonly mode: "file" | "filter";
  /** How messages call it: as the person named it. */
  readonly label: string;
  /** The document in commands that messages suggest: its file, or null when it was piped in. */
  readonly file: string | null;
  /** Positional arguments after the document. */
  readonly targets: readonly string[];
  readonly interrupts: Interrupts;
  readonly session: ChatSession;
}

export interface DocumentOptions extends Pick<ChatOptions, "emit" | "interactive" | "askSecret" | "limiter"> {
  /** Signals that several documents share. @default the document's own */
  readonly interrupts?: Interrupts;
  /** Whether a piece of a document, as an editor pipes it, is taken for one too. @default false */
  readonly fragments?: boolean;
  /** Told each change of a piped document, with the whole text before and after it. */
  readonly changed?: (before: Uint8Array, after: Uint8Array) => void;
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
  const interrupts = options.interrupts ?? new Interrupts((fault, exit) => {
    tellFault(invocation, fault);
    messages.close(exit);
    return exit;
  });
  try {
    const { openChat } = await loadAgent();
    const opened = await openChat(file, {
      ...host.value,
      emit: options.emit,
      interactive: options.interactive,
      askSecret: options.askSecret,
      limiter: options.limiter,
      signal: interrupts.signal,
      wait: numberOption(invocation.arguments, "wait") ?? 0,
      notify: (notice) => messages.notice(notice),
    });
    if (!opened.ok) return interrupts.received ? Exit.interrupted : refuse(invocation, opened.problem);
    await using session = opened.value;
    return await body({ mode: "file", label: file, file, targets, interrupts, session });
  } finally {
    if (options.interrupts === undefined) interrupts.dispose();
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
  const { messages, environment } = invocation;
  const input = inputOf(invocation);
  if (input === null) return Exit.failure;
  const inHand = new InHand(environment, (problem) => messages.notice(problem));
  const output = new FilterOutput();
  if (input.complete) output.begin(input.bytes);
  let current = () => input.bytes;
  let delivered: boolean | null = null;
  const finish = (wanted: boolean) => {
    if (delivered !== null) return;
    delivered = false;
    try {
      output.finish(current());
      if (!input.complete) passRestThrough();
      delivered = wanted;
    } finally {
      const kept = inHand.close(delivered);
      if (kept !== null) messages.note(`flemma: What this run had in hand: flemma recover ${kept}`);
    }
  };
  const strict = switchOption(invocation.arguments, "exit-code") === true;
  const exitFor = (exit: number) => strict ? exit : filterExit(exit, current(), input.bytes);
  const interrupts = new Interrupts((fault, exit) => {
    tellFault(invocation, fault);
    finish(false);
    const code = exitFor(exit);
    messages.close(code);
    return code;
  });
  try {
    const refused = refusalOf(input);
    if (refused !== null) return refuse(invocation, refused);
    const fragment = options.fragments === true ? asFragment(input.bytes) : null;
    let before = input.bytes;
    const take = (text: Uint8Array, asCut: () => Uint8Array) => {
      inHand.update(asCut());
      options.changed?.(before, text);
      before = text;
    };
    const store = new MemoryStore(
      fragment?.bytes ?? input.bytes,
      await namedPath(invocation),
      fragment === null ? take : () => {},
      nameOf(invocation),
    );
    messages.about(await messagesKey(store.chat, store.path));
    const opened = await inMemory(invocation, store, { emit: options.emit, signal: interrupts.signal });
    if (!opened.ok) return refuse(invocation, opened.problem);
    await using session = opened.value;
    current = () =>
      fragment === null ? session.chat.bytes : fragment.unwrap(session.chat.bytes) ?? input.bytes;
    const exit = await body({
      mode: "filter",
      label: labelOf(invocation),
      file: null,
      targets,
      interrupts,
      session,
    });
    const lost = fragment !== null && fragment.unwrap(session.chat.bytes) === null;
    const code = lost ? refuse(invocation, HEADER_OUTSIDE) : exitFor(exit);
    // Editors throw away what a failing or an interrupted filter gives them.
    finish(code === Exit.ok && !interrupts.received);
    return code;
  } finally {
    finish(false);
    interrupts.dispose();
  }
}

const HEADER_OUTSIDE: Problem = {
  code: "usage",
  message: "The status would go into the header of the block, which is not in the selection.",
  next: "Select the whole block.",
};

/**
 * What came into the text is worth keeping, and editors obey the exit code (editors 2.3). A person who is waited for finds
 * that in the text, where calls stand; elsewhere only a message can tell why nothing happened.
 */
function filterExit(exit: number, now: Uint8Array, before: Uint8Array): number {
  if (!sameBytes(now, before)) return Exit.ok;
  return exit === Exit.person && nextNeed(parse(now)).kind !== "go-on" ? Exit.ok : exit;
}

async function inMemory(
  invocation: Invocation,
  store: MemoryStore,
  options: Pick<ChatOptions, "emit" | "signal"> = {},
): Promise<Outcome<ChatSession>> {
  const host = hostOptions(invocation);
  if (!host.ok) return host;
  const { chatInMemory } = await loadAgent();
  return await chatInMemory(store.chat.bytes, { ...host.value, ...options, store });
}

/** The path a document from standard input is named by; null when it has none. */
function nameOf({ arguments: given, environment }: Invocation): string | null {
  const name = textOption(given, "name");
  return name === undefined ? null : absolutePath(environment, name);
}

/** The same with links followed: the path it is known by. */
async function namedPath({ arguments: given, environment }: Invocation): Promise<string | null> {
  const name = textOption(given, "name");
  return name === undefined ? null : await knownPath(environment, name);
}

/** All of standard input, or null after saying why it cannot be read. */
function inputOf({ messages, input }: Invocation): Input | null {
  try {
    return input.read();
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
    message: "standard input: the document is larger than 512 MB, the most it may be.",
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
): Promise<Pick<OpenDocument, "label" | "file" | "session"> | { readonly exit: number }> {
  const [file] = invocation.arguments.positionals;
  const host = hostOptions(invocation);
  if (!host.ok) return { exit: refuse(invocation, host.problem) };
  let opened: Outcome<ChatSession>;
  if (file === undefined || file === "-") {
    const bytes = reportInput(invocation);
    if ("exit" in bytes) return bytes;
    opened = await inMemory(
      invocation,
      new MemoryStore(bytes, await namedPath(invocation), undefined, nameOf(invocation)),
    );
  } else {
    const { openChat } = await loadAgent();
    opened = await openChat(file, { ...host.value, readOnly: true });
  }
  if (!opened.ok) return { exit: refuse(invocation, opened.problem) };
  return { label: labelOf(invocation), file: file === "-" ? null : file ?? null, session: opened.value };
}

/** A document as a report reads it, nothing evaluated. */
export interface ReadText {
  readonly label: string;
  /** The real path; null when the text has none. */
  readonly path: string | null;
  /** The absolute path it was named by, links kept. */
  readonly named: string | null;
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
    const { realPath, bytes } = read.value;
    return { label: file, path: realPath, named: absolutePath(environment, file), chat: parse(bytes) };
  }
  const bytes = reportInput(invocation);
  if ("exit" in bytes) return bytes;
  const path = await namedPath(invocation);
  return { label: labelOf(invocation), path, named: nameOf(invocation), chat: parse(bytes) };
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
): Promise<SettingsSubject & DocumentPaths | { readonly exit: number }> {
  if (file === undefined || file === "-") return { path: null, ...blocksOf(null) };
  const read = await readForReport(invocation, file);
  return "exit" in read ? read : { path: read.path, named: read.named, ...blocksOf(read.chat) };
}

/** The real path of the document whose policy is asked for; null when none is named. It must exist. */
export function documentPath(environment: Environment, file: string | undefined): Outcome<string | null> {
  if (file === undefined || file === "-") return success(null);
  try {
    return success(Deno.realPathSync(absolutePath(environment, file)));
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) {
      return failure("document-missing", `There is no file ${file}.`);
    }
    return failure("document-unreadable", `${file} cannot be read: ${thrownText(thrown)}.`);
  }
}
