// Types of the cycle: the document store, approvals, the journal, events, requests and stops.

import type { Problem } from "../base/problem.ts";
import type { Edit } from "../parser/edits/edit.ts";
import type { Chat, Diagnostic } from "../parser/types.ts";
import type { FileRead } from "../prompt/types.ts";
import type { ProviderError, RequestFallback, Usage } from "../providers/types.ts";
import type { Prices } from "../providers/models/types.ts";
import type { CallReasons } from "../tools/approval/reasons.ts";
import type { Effects, ExecutionResult } from "../tools/definition.ts";

/** Stores the current text of one document: in a file, or in memory in filter mode. */
export interface DocumentStore {
  /** Absolute path with symbolic links resolved, or null when unsaved. */
  readonly path: string | null;
  /** The absolute path as given, with symbolic links kept. @default `path` */
  readonly named?: string | null;
  /** The current document, a new object after every change. */
  readonly chat: Chat;
  /**
   * Applies edits that refer to the current `chat` and makes them durable. Fails if another writer changed the file in a
   * way that cannot be merged; the document then stays as that writer left it.
   */
  commit(edits: readonly Edit[]): Promise<Problem | null>;
  /**
   * Appends to a growing block at the end of the document, such as a streamed reply; the first call begins it. Text that
   * others write meanwhile is kept around it. Fails like `commit`.
   *
   * @param text the next text, in pieces: if the program ends meanwhile, the document may end after each of them
   * @param growth how it is added
   * @returns what prevents it; null when the text is durable
   */
  extend(text: readonly Piece[], growth: Growth): Promise<Problem | null>;
  /**
   * Takes over what other programs have written since. Fails like `commit`. @default `chat` is always current
   */
  refresh?(): Promise<Problem | null>;
  /**
   * Lets other runs use the document, until `reclaim`. Does nothing while commands run that must not write the document.
   * @default no other run can use it
   */
  release?(): Promise<void>;
  /**
   * Takes the document back after `release`, with what others wrote. Fails like `commit`, and if another run uses the
   * document for longer than allowed.
   */
  reclaim?(how: Reclaim): Promise<Problem | null>;
  /**
   * Returns the file as it is on disk, if the text is a copy that may never be saved, such as an editor's buffer; null if
   * there is no such file. @default the text is the document itself
   */
  onDisk?(): Promise<Chat | null>;
  /** True if a run on another machine was killed that may have started approved calls. @default false */
  readonly leftElsewhere?: boolean;
  /**
   * Bytes after the growing block. If no block is growing, the bytes after the end of the document, which are empty.
   */
  readonly behind: Uint8Array;
  /** Byte offset at which that block begins. @default the end of the document, where the next block will begin */
  readonly growsFrom?: number;
  /** Number of bytes of that block which `chat` does not contain yet. @default 0 */
  readonly draftLength?: number;
}

/** How a released document is reclaimed. */
export interface Reclaim {
  /** Seconds to wait while another run uses the document. */
  readonly wait: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
  /** Called once if another run uses the document. */
  readonly onBusy?: (problem: Problem) => void;
}

/** Text after which a document may end: one string, or, if long, several that are read one after the other. */
export type Piece = string | Iterable<string>;

/** How a piece of a growing block is added. */
export interface Growth {
  /** Number of bytes at the end of the block that the text replaces. */
  readonly replace: number;
  /** True if the last line of the text will continue. */
  readonly unfinished: boolean;
  /** True if the block is complete. */
  readonly last: boolean;
}

/** Who approved a call, bound to its text. */
export interface Approval {
  readonly by: "policy" | "person";
  /** Hash of tool name and input text at the time of the approval. */
  readonly hash: string;
  /** The same hash with the answers in the block of the call. @default there were none */
  readonly permits?: string;
  /** The resolver that approved, for `by: "policy"`. */
  readonly source?: string;
  /** The user was asked about this text of the call; nobody has approved it yet. */
  readonly asked?: true;
}

/** Identifies a file, whatever its name. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number | null;
  /** Birth time in milliseconds, if the file system reports it; inode numbers are reused. */
  readonly born: number | null;
  /** Number of names (hard links) of the file. */
  readonly links: number | null;
}

/** Snapshot of a document, made just before commands start that must not change the document. */
export interface TamperCheck {
  /** The path as given, and the real path it resolved to. */
  readonly name: string;
  readonly leads: string;
  /** The file; null if there is none. */
  readonly file: FileIdentity | null;
  /** Hash of each approved call, by id; approvals that this program records meanwhile are added. */
  readonly approved: Readonly<Record<string, string>>;
  /** The frontmatter's settings, as text that is the same for the same settings. */
  readonly block: string;
  /** True if the sandbox does not keep commands from writing the file. Absent if it does. */
  readonly writable?: true;
  /** Those whose commands live. Absent in records of earlier versions. */
  readonly owners?: readonly CommandsOwner[];
}

/** Somebody whose commands live, in one of the processes of this program. */
export interface CommandsOwner {
  readonly id: string;
  readonly machine: string;
  readonly owner: { readonly pid: number; readonly started: string };
}

/** Parts that a command could have written and that nobody confirmed. */
export interface TamperedParts {
  /** How a command could reach the parts, as the end of a sentence. */
  readonly why: string;
  /** Hash of each call whose approval is affected, by id. */
  readonly calls: Readonly<Record<string, string>>;
  /** The frontmatter's settings if they are affected, or null. */
  readonly block: string | null;
}

/** The context in which a thinking block was made, so that a change of it is detected before sending. */
export interface ThinkingRecord {
  /** Digest of the block's signature. */
  readonly key: string;
  /** Digest of the block's text. */
  readonly text: string;
  /** Digest of everything sent before it except thinking; null if its model does not check earlier text. */
  readonly prefix: string | null;
  /** Key of the previous thinking block, or null. */
  readonly before: string | null;
  readonly model: string;
}

/** Entries of a document's journal. */
export type ThinkingEntry =
  | ({ readonly kind: "thinking" } & ThinkingRecord)
  /** Thinking that is left out permanently, because restoring it would invalidate the thinking made without it. */
  | { readonly kind: "stale"; readonly keys: readonly string[] }
  /** Thinking that the model or account could not read at that time. A notice about it was already shown. */
  | { readonly kind: "unread"; readonly keys: readonly string[] }
  /** A value that a provider expects back with a reply, stored for the item with this digest. */
  | { readonly kind: "note"; readonly key: string; readonly value: string }
  /** Digests of the pieces of the last request, starting with the first that differs from the request before. */
  | { readonly kind: "sent"; readonly from: number; readonly pieces: readonly string[] };

export interface ThinkingState {
  readonly records: ReadonlyMap<string, ThinkingRecord>;
  readonly stale: ReadonlySet<string>;
  readonly unread: ReadonlySet<string>;
  readonly sent: readonly string[];
  readonly notes: ReadonlyMap<string, string>;
}

/** A call that was started. */
export interface StartedCall {
  readonly tool: string;
  /** What the call's tool could change at that time; absent if unknown. */
  readonly effects?: Effects;
  /** True if a message reported that the call may have run, but only a text that may never be saved shows it. */
  readonly reported?: true;
}

/** A call for which this machine knows a block in a document. */
export interface KnownCall {
  /** Hash of tool name and input text, as in an approval. */
  readonly hash: string;
  /** Digests of the turns that lead to the call. */
  readonly turns: readonly string[];
  /** What the person was asked about although the text said `approved`; such an approval counts from then on. */
  readonly asked?: AskedAlthough;
}

/** Questions of a server in a call, until the call has its result. */
export interface AskedQuestions {
  /** Hash of tool name and input text at the time of the questions. */
  readonly hash: string;
  /** What the server needs to go on, and the forms of the answers. */
  readonly state: string;
}

/** What a document said before commands of another one began that could write it. */
export interface Reach {
  /** The process that started the commands. */
  readonly owner: { readonly pid: number; readonly started: string };
  /** Hash of each call that was approved, by id. */
  readonly approved: Readonly<Record<string, string>>;
}

/** Facts that let an approval in the text wait once. */
export interface AskedAlthough {
  /** The call ran in this document or a copy of it. */
  readonly ran?: true;
}

/** Durable memory about one document. A record is durable once the promise settles. */
export interface Journal {
  /** Returns the last decision or question about a call. */
  approval(id: string): Approval | null;
  /** True if `approval` was recorded by this run, under the current settings. */
  isFromThisRun(id: string): boolean;
  /** Records decisions and questions by call id, and calls that have a block now, all of them or none. */
  recordApprovals(
    approvals: ReadonlyMap<string, Approval>,
    held?: ReadonlyMap<string, KnownCall>,
  ): Promise<void>;
  /** The last recorded text of a call with a block; null if this machine knows none. */
  held(id: string): KnownCall | null;
  /** When the last decision about a call was recorded, as `2026-11-28T12:00:00.000Z`; empty if unknown. */
  decidedAt(id: string): string;
  /** Whether the recorded text of a call ran, and nobody was asked about it or approved it since. */
  hasRun(id: string): boolean;
  /** Commands of other documents that could write this one and are not known to have ended, by their run. */
  reached(): ReadonlyMap<string, Reach>;
  recordReached(by: string, reach: Reach): Promise<void>;
  /** Records that these commands ended, and which parts are unconfirmed from now on. */
  recordLeft(by: string, tampered: TamperedParts | null): Promise<void>;
  /** Reads what other runs recorded since. */
  reread(): void;
  /** Whether the document was used by a version that did not record calls with a block. */
  readonly predates: boolean;

  /** Returns what a server needs to go on with a call that waits for a person's answers; null if none is known. */
  asked(id: string): AskedQuestions | null;
  /** Records what a server needs to go on with a call. */
  recordAsked(id: string, asked: AskedQuestions): Promise<void>;
  /** Returns calls that were started and have no recorded end, by id. */
  started(): ReadonlyMap<string, StartedCall>;
  /**
   * Records that a call is about to run. For a call that changes nothing the record survives the end of the program,
   * but perhaps not a crash of the machine.
   * @param effects what the call may change, by its current tool. @default unknown
   */
  recordStart(id: string, tool: string, effects?: Effects): Promise<void>;
  /** Records that a message reported that a started call may have run, while only a text that may never be saved shows it. */
  recordReported(id: string): Promise<void>;
  /**
   * Records that a call has ended. The record is not synced to disk, because the result in the document says the same.
   */
  recordEnd(id: string, how?: { readonly ran?: boolean }): Promise<void>;
  /** Saves a body that is about to be overwritten; returns its path. */
  keepBody(id: string, body: string): Promise<string>;
  /** Saves the result of a started call that the document could not take; returns its path. */
  keepResult(id: string, body: string): Promise<string>;
  /** Returns paths of the saved results of calls that ran to their end and could not be written, by id. */
  savedResults(): ReadonlyMap<string, string>;

  /** Returns ids of calls in a reply whose end is not recorded: the reply still grows, or the program was killed. */
  unfinished(): ReadonlySet<string>;
  /** Records that these calls will be in the document before the reply has ended. */
  recordUnfinished(ids: readonly string[]): Promise<void>;
  /** Records that the document shows how the reply with these calls ended. */
  recordFinished(ids: readonly string[]): Promise<void>;

  /**
   * Returns what was recorded before commands started; null once it is settled. If it is not settled, the commands
   * still run, or the program was killed.
   */
  tamperCheck(): TamperCheck | null;
  /** Returns parts that a command could have written and that nobody confirmed. */
  tampered(): TamperedParts | null;
  recordTamperCheck(tamperCheck: TamperCheck): Promise<void>;
  /** Records that the commands ended, and which parts are unconfirmed from now on. */
  recordTampered(tampered: TamperedParts | null): Promise<void>;

  /**
   * Returns the SHA-256 in hexadecimal of the content last sent to the model; null for a file that was never sent.
   * `path` is absolute.
   */
  fileHash(path: string): string | null;
  recordFiles(files: readonly FileRead[]): Promise<void>;
  /**
   * Returns the day that generated system prompts of this document name, as `2026-11-28`; null if none was recorded.
   */
  promptDay(): string | null;
  /** Records the day; later calls change nothing. */
  recordPromptDay(day: string): Promise<void>;

  /** The context of earlier thinking. */
  readonly thinking: ThinkingState;
  recordThinking(entries: readonly ThinkingEntry[]): Promise<void>;
}

/** What one request used and cost. */
export interface UsageRecord {
  /** Time of the request, as `2026-11-28T12:00:00.000Z`. */
  readonly time: string;
  /** Seconds until the request ended. */
  readonly seconds: number;
  /** Absolute path of the document, or null when it was unsaved. */
  readonly document: string | null;
  /** Provider of the request. */
  readonly provider: string;
  /** Model of the request. */
  readonly model: string;
  /** How the reply ended. Tokens of a broken reply are paid for too. */
  readonly ended: RequestStatus;
  /** Tokens that the request used. */
  readonly usage: Usage;
  /** Number of tokens that the model's window holds; null if unknown. */
  readonly context: number | null;
  /** The model's prices on that day for a prompt of that length; null if unknown. */
  readonly prices: Prices | null;
  /** Cost in dollars; null without prices. */
  readonly cost: number | null;
  /** The model that could not answer and for which this one was asked, as `PROVIDER/MODEL`; absent if there is none. */
  readonly instead_of?: string;
  /** Id of the request in a batch; absent for other requests. Two records with one id are of one request. */
  readonly item?: string;
}

/** State of the autopilot: inactive, about to continue, waiting for a reply, waiting for the user. */
export type AutopilotState = "idle" | "armed" | "sending" | "paused";

/** What happens during a run. It is reported as it happens, and printed as JSON lines or shown in a terminal. */
export type CycleEvent =
  /** A call waits for the person's decision. */
  | Partial<CallReasons> & {
    readonly event: "approval:pending";
    readonly id: string;
    readonly name: string;
    readonly preview: string;
    readonly line: number;
    readonly source: string;
    /** The change that a call would make to a file, as a unified diff; absent if there is nothing to compare. */
    readonly diff?: string;
  }
  /** A rule, hook or other approval source denied a call, which does not run. */
  | {
    readonly event: "approval:denied";
    readonly id: string;
    readonly name: string;
    readonly preview: string;
    readonly source: string;
  }
  /** A call starts to run. */
  | { readonly event: "tool:executing"; readonly id: string; readonly name: string; readonly preview: string }
  /** Output of a call that still runs. */
  | { readonly event: "tool:output"; readonly id: string; readonly text: string }
  /** A tool shows the user something that is not for the model, such as a URL to open. */
  | { readonly event: "tool:message"; readonly id: string; readonly content: unknown }
  /** A call has its result, which is in the document. */
  | {
    readonly event: "tool:finished";
    readonly id: string;
    readonly name: string;
    readonly status: "success" | "error";
    readonly note?: string;
  }
  /** A call has no result yet: it waits in the document of a helper, or its server asks the person something. */
  | {
    readonly event: "tool:waiting";
    readonly id: string;
    readonly name: string;
    /** Short name of the helper; null if the server of the call asks. */
    readonly helper: string | null;
    /** Path of the helper's document, relative to the folder of the document that asked; null without a helper. */
    readonly path: string | null;
    /** What it waits for, as a sentence. */
    readonly message: string;
  }
  /** A request is sent to the model. */
  | { readonly event: "request:sending"; readonly provider: string; readonly model: string }
  /** The provider could not answer; the request is repeated after `wait` seconds. */
  | {
    readonly event: "request:retrying";
    /** Number of the next attempt; the first request is 1. */
    readonly attempt: number;
    /** Maximum number of attempts; null if only the time of `run.wait_for_limit` limits them. */
    readonly of: number | null;
    readonly wait: number;
    /** Time of the next attempt in UTC, such as `2026-11-28T12:30:00Z`. */
    readonly until: string;
    readonly error: ProviderError;
  }
  /** The request waits in line, because the provider refused requests of other documents. */
  | {
    readonly event: "request:waiting";
    readonly provider: string;
    /** Seconds until the provider accepts requests again; 0 if only others are in front. */
    readonly wait: number;
    /** That time in UTC. */
    readonly until: string;
    /** Number of requests in front. */
    readonly ahead: number;
  }
  /** Another model is asked for this reply, because the provider cannot answer (`fallback.models`). */
  | {
    readonly event: "request:fallback";
    /** The model that cannot answer, as `PROVIDER/MODEL`. */
    readonly from: string;
    readonly to: string;
    readonly error: ProviderError;
  }
  /** The next part of the reply's text. */
  | {
    readonly event: "text";
    readonly text: string;
    /**
     * Line of the document, 1-based, on which the text begins when the event is sent. Absent if a host sends requests
     * itself and does not know the line.
     */
    readonly line?: number;
  }
  /**
   * A block of thinking is complete: the model's notes between calls, or a summary of its reasoning. A very long one
   * comes in several events, of whole lines.
   */
  | { readonly event: "thinking"; readonly text: string }
  /** The provider ran a tool of its own, or names the sources of the text before; `text` is what readers see. */
  | {
    readonly event: "reply:tool";
    readonly what: "blocks" | "citations";
    readonly text: string;
    /** Line of the document on which the block begins, 1-based. */
    readonly line: number;
  }
  /** The reply continues without text: the model is thinking, or writing the input of a call. */
  | {
    readonly event: "reply:progress";
    readonly block: "thinking" | "call";
    /** Name of the tool that is called. */
    readonly name?: string;
    /** Number of characters of the block that were received so far. */
    readonly characters: number;
  }
  /** The reply is complete, or the request failed. */
  | {
    readonly event: "request:finished";
    readonly status: RequestStatus;
    readonly usage: Usage | null;
    /** What the request used, as far as known, and its cost; absent if the provider did not report it. */
    readonly record?: UsageRecord;
    readonly error?: ProviderError;
  }
  /** A background job starts. */
  | {
    readonly event: "job:started";
    /** Id of the job. */
    readonly job: string;
    /** The call that started the job. */
    readonly id: string;
    readonly name: string;
    readonly preview: string;
  }
  /** Output of a background job. */
  | { readonly event: "job:output"; readonly job: string; readonly text: string }
  /** A background job has ended. Its result follows in the document. */
  | {
    readonly event: "job:finished";
    readonly job: string;
    readonly id: string;
    readonly status: "success" | "error" | "stopped";
    /** Seconds that the job ran. */
    readonly seconds: number;
  }
  /** A call changed a file. */
  | {
    readonly event: "file:changed";
    /** Absolute path of the file. */
    readonly path: string;
    /** The call that changed the file, or at whose end the change was detected. */
    readonly id: string;
    /** Present if a command changed a file that another tool executes or follows when the user starts that tool. */
    readonly change?: "made" | "changed" | "removed";
    /** The changed lines after `-` and `+`, if the file has instructions for agents. */
    readonly diff?: string;
    readonly obeyed_by?: string;
  }
  /** A hook starts. */
  | {
    readonly event: "hook:started";
    readonly name: string;
    /** The event for which the hook runs, such as `PreToolUse`. */
    readonly on: string;
    /** The call that the hook is about; absent for a message or a reply. */
    readonly id?: string;
  }
  /** A hook has ended. */
  | {
    readonly event: "hook:finished";
    readonly name: string;
    readonly on: string;
    readonly id?: string;
    /** What the hook decided; `deny` also means that it blocks a message or the end of a run. */
    readonly decision: "deny" | "ask" | "allow" | null;
    /** Why the hook failed, as the end of the sentence "The hook NAME …"; absent if it did not fail. */
    readonly failed?: string;
  }
  /** The context window was full, so the beginning of the document was replaced by a summary (`context.on_full`). */
  | {
    readonly event: "context:compacted";
    /** Path of the copy of the document as it was before. */
    readonly archive: string;
    /** Estimated tokens of the next request before. */
    readonly before: number;
    /** Estimated tokens of the next request now. */
    readonly after: number;
    /** Cost of the summary in dollars: 0 if only results were shortened, null if it is unknown. */
    readonly cost: number | null;
  }
  /** Every tool source that was asked has answered. */
  | { readonly event: "boot:complete" }
  /** A sentence that the person should read; the run goes on. */
  | { readonly event: "notice"; readonly code: string; readonly message: string; readonly id?: string }
  /** A mistake in the document, or something that it may not have meant. */
  | { readonly event: "diagnostic"; readonly diagnostic: Diagnostic }
  /** The line at which an editor should place the cursor, 1-based. */
  | { readonly event: "cursor"; readonly line: number };

/** The result of a call, which may have started a background job. */
export type CallResult = ExecutionResult & { readonly job?: StartedJob };

/** A background job whose command has not started. */
export interface StartedJob {
  readonly id: string;
  /** Starts the command. Called when the document names the job. */
  begin(): void;
  /** Forgets the job, because the document could not name it. */
  abandon(): void;
}

/** Receives the events of a run. It must not throw. */
export type Emit = (event: CycleEvent) => void;

/**
 * How much of a reply a completed request brought: all of it, perhaps not all of it, the beginning up to a limit, the
 * beginning that fitted in the model's context window, or no content.
 */
export type CompletedReply = "whole" | "doubtful" | "cut" | "full" | "empty";

/** How a request ended. The document already contains what was received. */
export type RequestEnd =
  | {
    readonly kind: "completed";
    readonly reply: CompletedReply;
    readonly usage: Usage | null;
    readonly warnings: readonly string[];
  }
  /** The provider wants the reply sent back unchanged, to continue it. */
  | { readonly kind: "paused"; readonly warnings: readonly string[] }
  /** The provider rejected the request, and may accept it with the given fallback. */
  | {
    readonly kind: "refused";
    readonly fallback: RequestFallback;
    /** Keys of earlier thinking that the fallback leaves out. */
    readonly omitted: readonly string[];
    readonly warnings: readonly string[];
  }
  /** The document was changed while the request waited, so the next step must be decided again. */
  | { readonly kind: "changed" }
  /** The request was not sent, because it goes into a batch. */
  | { readonly kind: "batched" }
  /** The request was not sent, because of problems in the document. */
  | { readonly kind: "blocked"; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: "cancelled" }
  | {
    readonly kind: "failed";
    readonly problem: Problem;
    /** True if nothing of a reply arrived, so that another model can be asked. @default false */
    readonly unanswered?: true;
  };

/** How a request ended, for the log and for programs. */
export type RequestStatus = "completed" | "cancelled" | "errored";

/** How a send ended, which may have taken several requests. */
export type SendOutcome = Exclude<RequestEnd, { kind: "paused" | "refused" }>;

/**
 * Sends a request to the provider and writes the reply into the document through the store. `byPerson` tells whether
 * the user asked for this very request. @default true
 */
export type Send = (signal: AbortSignal, how?: { readonly byPerson: boolean }) => Promise<SendOutcome>;

/** Reason why a run stopped. */
export type StopReason =
  | "done"
  /** The reply reached a limit; the document contains what was received. */
  | "cut"
  /** The model spoke last, and it does not continue its own reply. */
  | "last-word"
  /** Nothing was written since the model answered, so there is nothing to do. */
  | "answered"
  /** The request is in a batch, whose reply is still to come. */
  | "batched"
  | "pending"
  /** Calls have no result although none waits for a person, because they have not run. */
  | "unanswered"
  | "protected"
  | "turn-limit"
  /** The same calls repeatedly brought the same results. */
  | "repeats"
  /** The next request would fill the model's context window. */
  | "context-full"
  /** The next request would exceed a limit of the run. */
  | "budget"
  /** A hook ended the run, or blocked the message. */
  | "hook"
  /** Hooks made the model continue as often as they may. */
  | "hook-limit"
  /** The provider's rate limit is reached, and the run may not wait longer. */
  | "limited"
  | "yield"
  | "throttled"
  | "stepped"
  | "diagnostics"
  | "conflict"
  | "failed"
  | "cancelled"
  | "empty";

/** How a run ended, and what a person has to look at. */
export interface Stop {
  /** Reason why the run stopped. */
  readonly reason: StopReason;
  /** The calls that the reason is about, in document order. */
  readonly ids: readonly string[];
  /** Line to show to the person (1-based), or null if there is none. */
  readonly line: number | null;
  /**
   * Present with `done` if part of the reply may be missing, with `cut` if the context window is full, and with
   * `diagnostics`, `conflict`, `failed`, `empty`, `repeats`, `context-full`, `budget`, `batched`, and if the run was
   * refused.
   */
  readonly problem?: Problem;
}
