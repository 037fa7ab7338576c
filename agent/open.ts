// Opens a document as a `ChatSession`: a file under its lock, or a text in memory.

import { type Environment, processEnvironment, systemFor } from "../base/environment.ts";
import { absolutePath } from "../base/paths.ts";
import { type Outcome, problemLine, success } from "../base/problem.ts";
import { openFile } from "../cycle/storage/file_store.ts";
import { MemoryStore } from "../cycle/storage/memory_store.ts";
import { checkText, knownPath } from "../cycle/storage/read.ts";
import type { BatchedRequest } from "../cycle/send/options.ts";
import type { DocumentStore } from "../cycle/types.ts";
import type { Chat } from "../parser/types.ts";
import { lockPlaceOf } from "./settings.ts";
import { checkOptions } from "./runtime/host/check_options.ts";
import { oneLineNotices } from "./runtime/notices.ts";
import { guardCallbacks } from "./runtime/host/callbacks.ts";
import type { AskingOptions } from "./runtime/helpers/types.ts";
import { type Session, startSession } from "./session.ts";
import type { JobKeeper } from "./runtime/jobs/keeper.ts";
import type { ReadBefore, RuntimeOptions } from "./runtime/types.ts";
import type { ChatOptions, ChatSession, MemoryOptions, OpenOptions } from "./types.ts";

/** Limits parallel requests. Several documents of one process can share one limiter. */
export { RequestLimiter } from "../providers/http/limiter.ts";

/** Options with which only the parts of this program open a document. */
export interface OwnOpenOptions extends OpenOptions {
  /** The batch that takes the requests. @default requests go to the provider */
  readonly batch?: BatchedRequest;
  /** Keeps background jobs after the run. @default they end with it */
  readonly jobKeeper?: JobKeeper;
  /** Returns the store that the session uses in place of the file's own. @default the file's own */
  readonly around?: (store: DocumentStore) => DocumentStore;
}

/** Opens a file, for the parts of this program, which may pass options of several functions together. */
export async function openChat(
  path: string,
  options: OwnOpenOptions & AskingOptions = {},
): Promise<Outcome<Session>> {
  const system = systemFor("openChat");
  if (!system.ok) return system;
  const { environment = processEnvironment(), wait = 0, readOnly = false, signal, emit } = options;
  const notify = options.notify ?? ((problem) => {
    if (emit === undefined) return;
    oneLineNotices(emit)({ event: "notice", code: problem.code, message: problemLine(problem) });
  });
  const named = absolutePath(environment, path);
  const found = readOnly ? undefined : await lockPlaceOf({ ...options, environment }, named);
  const file = await openFile(path, { environment, wait, place: found?.place, readOnly, signal, notify });
  if (!file.ok) return file;
  const store = file.value;
  if (store.leftElsewhere) {
    const { noteLeftElsewhere } = await import("./trust/runs_elsewhere.ts");
    const problem = await noteLeftElsewhere(store, environment);
    if (problem !== null) {
      await store.close();
      return { ok: false, problem };
    }
  }
  const opened = {
    store: options.around?.(store) ?? store,
    label: path,
    file: path,
    locked: !readOnly,
    close: () => store.close(),
  };
  // The link may now lead to another project, and settings may have changed while this process waited for another
  // run.
  const sources = store.path === named && wait === 0 ? found?.sources : undefined;
  const session = await startSession(
    opened,
    { ...options, environment, readOnly, jobs: true, openHelper: openChat },
    { sources },
  );
  if (!session.ok) return session;
  store.inPlaceWhile = () => session.value.commandsLive;
  store.checkForeign = (foreign) => session.value.checkForeign(foreign);
  return session;
}

/** A document that was read in order to show it, not to change it. */
export interface ReadForSession {
  /** Real path of the document; null if the text has no path. */
  readonly path: string | null;
  /** Absolute path as given, with links not resolved. */
  readonly named: string | null;
  /** The file as the person named it; null for a text that is not from a file. */
  readonly file: string | null;
  readonly chat: Chat;
}

/** Opens a document for viewing, from what was already read; writes nothing. */
export async function openRead(
  { path, named, file, chat }: ReadForSession,
  options: ChatOptions & { readonly environment: Environment },
  before?: ReadBefore,
): Promise<Outcome<Session>> {
  const store = new MemoryStore(chat.bytes, path, undefined, named);
  const label = file ?? path ?? "-";
  const opened = { store, label, file, locked: false, close: () => Promise.resolve() };
  const openHelper = file === null ? undefined : openChat;
  return await startSession(
    opened,
    { ...options, readOnly: file !== null, jobs: file !== null, openHelper },
    before,
  );
}

/** Opens a text, for the parts of this program, which may pass options of several functions together. */
export async function chatInMemory(
  bytes: Uint8Array,
  options: MemoryOptions & Partial<Pick<RuntimeOptions, "jobs" | "jobKeeper" | "isAside">> = {},
): Promise<Outcome<Session>> {
  const system = systemFor("chatInMemory");
  if (!system.ok) return system;
  const { environment = processEnvironment(), path: named = null } = options;
  const label = options.store?.path ?? named;
  const refused = checkText(options.store?.chat.bytes ?? bytes, label ?? "the text");
  if (refused !== null) return { ok: false, problem: refused };
  const path = named === null ? null : await knownPath(environment, named);
  const store: DocumentStore = options.store ??
    new MemoryStore(bytes, path, undefined, named === null ? null : absolutePath(environment, named));
  const opened = { store, label: label ?? "-", file: null, locked: false, close: () => Promise.resolve() };
  const { readOnly = false, jobs = false } = options;
  // Only a text that a host stores, such as an editor, has a place for helpers.
  const openHelper = options.store === undefined ? undefined : openChat;
  const session = await startSession(opened, { ...options, environment, readOnly, jobs, openHelper });
  return session.ok ? success(session.value) : session;
}

/**
 * Opens a file for changes in place, under its lock. Reads only the document and its settings, and probes nothing, until a
 * method needs more.
 *
 * ```ts
 * import { openChat } from "flemma";
 *
 * const opened = await openChat("notes.chat");
 * if (!opened.ok) console.error(opened.problem.message);
 * else {
 *   await using chat = opened.value;
 *   console.log((await chat.advance()).reason);
 * }
 * ```
 *
 * @param path the document, relative to the working folder; messages use this path as its name
 * @param options the options of the host
 * @returns the open document. Fails with `document-missing`, `document-locked` and the other codes of a document that
 * cannot be read or written, with `runtime-unsupported` outside of Deno, with `cancelled` when the signal ends the wait
 * for another run, or with what is wrong in the settings. Unreadable frontmatter is not a failure: it is one of the
 * `blockers`.
 */
export async function openChatOfHost(path: string, options: OpenOptions = {}): Promise<Outcome<ChatSession>> {
  const checked = checkOptions("openChat", options);
  return checked.ok ? await openChat(path, guardCallbacks(options)) : checked;
}

/**
 * Opens a text that nothing else changes: for a filter, an editor's buffer, a test.
 *
 * ```ts
 * import { chatInMemory } from "flemma";
 *
 * const opened = await chatInMemory(new TextEncoder().encode("@You:\nHello\n"));
 * if (opened.ok) console.log(opened.value.chat.turns.length); // 1
 * ```
 *
 * @param bytes the document; ignored if a store is given
 * @param options the options of the host
 * @returns the open document. Fails with `document-binary` or `document-not-utf8`, or with what is wrong in the settings.
 */
export async function chatInMemoryOfHost(
  bytes: Uint8Array,
  options: MemoryOptions = {},
): Promise<Outcome<ChatSession>> {
  const checked = checkOptions("chatInMemory", options);
  return checked.ok ? await chatInMemory(bytes, guardCallbacks(options)) : checked;
}
