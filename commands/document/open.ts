// Opens the document of a command: a file that is changed in place, or standard input, which is printed with the
// changes.

import type { Session } from "../../agent/session.ts";
import type { SubjectSettings } from "../../agent/settings.ts";
import type { ChatOptions } from "../../agent/types.ts";
import { nextNeed } from "../../agent/views/next_need.ts";
import { sameBytes } from "../../base/bytes.ts";
import type { Outcome, Problem } from "../../base/problem.ts";
import { messagesKey } from "../io/saved_messages.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { parse } from "../../parser/mod.ts";
import { hostOptions } from "./host.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { Interrupts } from "../io/interrupt.ts";
import { refuse } from "../io/refuse.ts";
import { numberOption, switchOption } from "../line/options.ts";
import { Delivery } from "./delivery.ts";
import { asFragment } from "./fragment.ts";
import { documentName, inputOf, labelOf, namedPath, type ReadText, refusalOf, reportInput } from "./read.ts";

export interface CommandDocument {
  readonly mode: "file" | "filter";
  /** Name in messages, as the person wrote it. */
  readonly label: string;
  /** The document in suggested commands: its file, or null for piped text. */
  readonly file: string | null;
  readonly targets: readonly string[];
  readonly interrupts: Interrupts;
  readonly session: Session;
}

export interface DocumentOptions
  extends Pick<ChatOptions, "emit" | "interactive" | "askSecret" | "limiter" | "compacts"> {
  /** Interrupts that several documents share. @default the document's own */
  readonly interrupts?: Interrupts;
  /** Signal that ends this document's run. @default the signal of the interrupts */
  readonly signal?: AbortSignal;
  /** True to accept a part of a document, as editors pipe a selection. @default false */
  readonly fragments?: boolean;
  /** Called for each change of a piped document, with the whole text before and after. */
  readonly changed?: (before: Uint8Array, after: Uint8Array) => void;
}

/** Loaded on demand: commands that only read a document do not need the session code. */
const loadAgent = () => import("../../agent/open.ts");

/**
 * Opens the document of the command line and calls `body` with it. In filter mode the whole document is written to
 * standard output exactly once, however `body` ends: with its changes or, if that is not possible, unchanged.
 */
export async function withDocument(
  invocation: Invocation,
  options: DocumentOptions,
  body: (document: CommandDocument) => Promise<number>,
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
      compacts: options.compacts,
      signal: options.signal ?? interrupts.signal,
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
  if (fault !== null) messages.say(`flemma: Internal error: ${fault}`);
}

async function filter(
  invocation: Invocation,
  targets: readonly string[],
  options: DocumentOptions,
  body: (document: CommandDocument) => Promise<number>,
): Promise<number> {
  const { messages } = invocation;
  const input = inputOf(invocation);
  if (input === null) return Exit.failure;
  const delivery = new Delivery(invocation, input);
  const strict = switchOption(invocation.arguments, "exit-code") === true;
  const exitFor = (exit: number) => strict ? exit : filterExit(exit, delivery.current(), input.bytes);
  const interrupts = new Interrupts((fault, exit) => {
    tellFault(invocation, fault);
    delivery.finish(false);
    const code = exitFor(exit);
    messages.close(code);
    return code;
  });
  try {
    const refused = refusalOf(input);
    if (refused !== null) return refuse(invocation, refused);
    const fragment = options.fragments === true ? asFragment(input.bytes) : null;
    const store = new MemoryStore(
      fragment?.bytes ?? input.bytes,
      await namedPath(invocation),
      fragment === null ? delivery.taking(options.changed) : () => {},
      documentName(invocation),
    );
    messages.about(await messagesKey(store.chat, store.path));
    const opened = await inMemory(invocation, store, { emit: options.emit, signal: interrupts.signal });
    if (!opened.ok) return refuse(invocation, opened.problem);
    await using session = opened.value;
    delivery.current = () =>
      fragment === null ? session.chat.bytes : fragment.unwrap(session.chat.bytes) ?? input.bytes;
    const label = labelOf(invocation);
    const exit = await body({ mode: "filter", label, file: null, targets, interrupts, session });
    const lost = fragment !== null && fragment.unwrap(session.chat.bytes) === null;
    const code = lost ? refuse(invocation, HEADER_OUTSIDE) : exitFor(exit);
    // Editors discard the output of a filter that fails or is interrupted.
    delivery.finish(code === Exit.ok && !interrupts.received);
    return code;
  } finally {
    delivery.finish(false);
    interrupts.dispose();
  }
}

const HEADER_OUTSIDE: Problem = {
  code: "usage",
  message: "The status belongs in the header of the block, which is not in the selection.",
  next: "Select the whole block.",
};

/**
 * Success if the text changed, because editors discard the output of a failed filter. If a person must decide, the text
 * shows it, so that is a success too. If the model's turn is last, the text does not show why nothing happened, so the
 * exit code and the message must explain it.
 */
function filterExit(exit: number, now: Uint8Array, before: Uint8Array): number {
  if (!sameBytes(now, before)) return Exit.ok;
  return exit === Exit.person && nextNeed(parse(now)).kind !== "go-on" ? Exit.ok : exit;
}

async function inMemory(
  invocation: Invocation,
  store: MemoryStore,
  options: Pick<ChatOptions, "emit" | "signal"> = {},
): Promise<Outcome<Session>> {
  const host = hostOptions(invocation);
  if (!host.ok) return host;
  const { chatInMemory } = await loadAgent();
  return await chatInMemory(store.chat.bytes, { ...host.value, ...options, store });
}

/** Opens a document that was already read; `subject` holds its settings if they were loaded. */
export async function openAsRead(
  invocation: Invocation,
  read: ReadText,
  subject?: SubjectSettings,
): Promise<Session | { readonly exit: number }> {
  const host = hostOptions(invocation);
  if (!host.ok) return { exit: refuse(invocation, host.problem) };
  const { openRead } = await loadAgent();
  const opened = await openRead(read, host.value, { subject });
  return opened.ok ? opened.value : { exit: refuse(invocation, opened.problem) };
}

/** Opens a document for reading only, without a lock and without writing. Opens standard input if no file is named. */
export async function openForReport(
  invocation: Invocation,
): Promise<Pick<CommandDocument, "label" | "file" | "session"> | { readonly exit: number }> {
  const [file] = invocation.arguments.positionals;
  const host = hostOptions(invocation);
  if (!host.ok) return { exit: refuse(invocation, host.problem) };
  let opened: Outcome<Session>;
  if (file === undefined || file === "-") {
    const bytes = reportInput(invocation);
    if ("exit" in bytes) return bytes;
    opened = await inMemory(
      invocation,
      new MemoryStore(bytes, await namedPath(invocation), undefined, documentName(invocation)),
    );
  } else {
    const { openChat } = await loadAgent();
    opened = await openChat(file, { ...host.value, readOnly: true });
  }
  if (!opened.ok) return { exit: refuse(invocation, opened.problem) };
  return { label: labelOf(invocation), file: file === "-" ? null : file ?? null, session: opened.value };
}
