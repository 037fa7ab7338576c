// What whoever works on a document gives along, and what it gets: the command line, an editor, another program.

import type { Environment } from "../base/environment.ts";
import type { Outcome, Problem } from "../base/problem.ts";
import type { FirstBlock, FrontmatterDiagnostic } from "../config/document/first_block.ts";
import type { Settings } from "../config/settings.ts";
import type { LoadedSettings, SettingsOverrides } from "../config/sources/find.ts";
import type { Step } from "../cycle/plan/types.ts";
import type { TargetSpec } from "../cycle/plan/targets.ts";
import type { Estimate } from "../cycle/send/estimate.ts";
import type { Prepared } from "../cycle/send/request.ts";
import type { Holder } from "../cycle/storage/lock.ts";
import type { AutopilotState, DocumentStore, Emit, Stop } from "../cycle/types.ts";
import type { Edit } from "../parser/edits/edit.ts";
import type { Chat, Diagnostic, Lifecycle } from "../parser/types.ts";
import type { RequestLimiter } from "../providers/http/limiter.ts";
import type { Provider } from "../providers/types.ts";
import type { FileChange, RunSandbox } from "../sandbox/mod.ts";
import type { CallReasons } from "../tools/approval/reasons.ts";
import type { ProposedRule } from "../tools/approval/rules/propose.ts";
import type { ApprovalDecision, ResolverDefinition } from "../tools/approval/types.ts";
import type { RegisteredTool, Registration } from "../tools/definition.ts";
import type { ResolveTools, ToolSource } from "../tools/registration/types.ts";

export type { ProposedRule } from "../tools/approval/rules/propose.ts";
export type { RegisteredTool } from "../tools/definition.ts";
export type { WrittenRule } from "../config/rules/read_rule.ts";

/** A tool beside the built-in ones. */
export type OwnTool = Registration & { readonly name: string };

/** Where tools beside the built-in ones come from: a definition, a source that finds them, the path of a file of code. */
export type OwnTools = OwnTool | ToolSource | ResolveTools | string;

/** A resolver of approvals beside those of the settings. */
export type OwnResolver = ResolverDefinition & { readonly name: string };

/** What every way to open a document takes. */
export interface ChatOptions {
  /** Directory, home and variables. @default those of this process */
  readonly environment?: Environment;
  /** What is said on top of the settings files. @default nothing */
  readonly settings?: SettingsOverrides;
  /**
   * Tools beside the built-in ones, and sources of them; the same name takes the place of a built-in tool.
   *
   * @default none but those of `tools`, the registry of this process
   */
  readonly tools?: readonly OwnTools[];
  /** Resolvers of approvals beside those of the settings. @default none */
  readonly resolvers?: readonly OwnResolver[];
  /** Used in place of the provider that the settings name. @default the one of the settings */
  readonly provider?: Provider;
  /** Makes the requests. @default `fetch` of the runtime */
  readonly fetch?: typeof fetch;
  /** Whether a request that the provider cannot answer for now is made again. @default true */
  readonly retry?: boolean;
  /** How many requests a provider gets at a time, shared by all documents that are given it. @default shared with none */
  readonly limiter?: RequestLimiter;
  /** Told what happens, as it happens. @default nobody is told */
  readonly emit?: Emit;
  /** Aborting it cancels whatever runs and starts nothing more. @default never aborted */
  readonly signal?: AbortSignal;
  /** Whether a reply is written while it arrives. @default true */
  readonly stream?: boolean;
  /** Whether somebody looks on who can be asked; tools are told. @default false */
  readonly interactive?: boolean;
  /** Asks the person for a secret that a tool needs; it is not kept. @default nobody can be asked */
  readonly askSecret?: (question: string) => Promise<string | null>;
  /** Takes what `print` in a first block writes, safe to show. @default dropped */
  readonly print?: (line: string) => void;
}

/** How a file is opened. */
export interface OpenOptions extends ChatOptions {
  /** Only look: no lock is taken, and neither the document nor what is remembered of it changes. @default false */
  readonly readOnly?: boolean;
  /** Seconds to wait for another run that holds the document. @default 0 */
  readonly wait?: number;
  /** Told what the file has to tell: merged changes, text set aside. @default told as `notice` events */
  readonly notify?: (notice: Problem) => void;
}

/** How a text is opened that no file is behind. */
export interface MemoryOptions extends ChatOptions {
  /**
   * The path the document is known by, relative to the working folder: for its settings, references and memory. That
   * file is not touched. @default null, unsaved
   */
  readonly path?: string | null;
  /** Where the text lives instead, for instance an editor's buffer; its path and text count. @default memory */
  readonly store?: DocumentStore;
  /** Only look: neither the text nor what is remembered of it changes. @default false */
  readonly readOnly?: boolean;
}

/**
 * The calls a person points at: an id, the number of a call, the beginning or the end of an id; a line, a tool, the only
 * pending call, all of them.
 */
export type CallTarget = string | Exclude<TargetSpec, { readonly kind: "id" }>;

/** A call that waits for something. */
export interface OpenCall {
  /** The id of the call. */
  readonly id: string;
  /** Its number among all calls of the document, from 1 on, whatever became of the others. */
  readonly number: number;
  /** The tool it asks for. */
  readonly name: string;
  /** What its block says; `open` has none yet, `running` runs now. */
  readonly status: "open" | "running" | Lifecycle;
  /** The line of its block, or of the call where there is none; 1-based. */
  readonly line: number;
  /** The call in one line that is safe to show. */
  readonly preview: string;
  /** Whether the preview leaves something out: then the call can be approved by its id only (S5). */
  readonly previewIsCut: boolean;
  /** Whether there is text in its block: of a pending call it becomes the result, an approved one does not run. */
  readonly hasText: boolean;
  /** What the approval chain says today, and who says it. */
  readonly decided: ApprovalDecision;
}

/** Why a call is decided as it is. */
export interface ExplainedCall extends CallReasons {
  /** The id of the call. */
  readonly id: string;
  /** The tool it asks for. */
  readonly tool: string;
  /** The call in one line that is safe to show. */
  readonly preview: string;
  /** What becomes of it. */
  readonly decision: ApprovalDecision["decision"];
  /** Who says so; `default` when nobody decided. */
  readonly source: string;
  /** Whose order of approval holds. */
  readonly profile: Settings["tools"]["approval_profile"];
}

/** A file before and after a call that would write it. */
export interface FileTexts {
  /** Real path of the file. */
  readonly path: string;
  /** Null where there is no file yet. */
  readonly before: string | null;
  /** The text that the call would leave. */
  readonly after: string;
}

/** One part of a call. */
export interface ShownPart {
  /** What it is: the command, a path, a diff, a member of the input, or the name that the model gave the call. */
  readonly kind: "command" | "path" | "diff" | "member" | "label";
  /** The member of the input that it shows. */
  readonly name: string;
  /** The text, whole, in lines, safe to show. */
  readonly text: string;
}

/** A call as it is shown to whoever decides about it. */
export interface ShownCall {
  /** The id of the call. */
  readonly id: string;
  /** Its number among all calls of the document, from 1 on. */
  readonly number: number;
  /** The tool it asks for. */
  readonly tool: string;
  /** The line it stands in, 1-based. */
  readonly line: number;
  /** The call, part by part. */
  readonly parts: readonly ShownPart[];
  /** The input as it is, not safe to show. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What a person should know before deciding: sentences. */
  readonly warnings: readonly string[];
  /** The folder that it starts in, or that its path belongs to. */
  readonly folder: string;
  /** Whether it would run in the sandbox now. */
  readonly sandboxed: boolean;
  /** What stands around it, as the end of a sentence. */
  readonly wall: string;
  /** Why it is decided as it is. */
  readonly explained: ExplainedCall;
  /** Hash of all that is shown and of the call as it stands: another one means that something of it has changed. */
  readonly digest: string;
}

/** What is wrong with a document, in document order, and whether it keeps a request from being sent. */
export interface Diagnosis {
  /** All findings. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether one of them is an error. */
  readonly blocked: boolean;
}

/** What a person agrees to when they trust a document (S15). */
export interface Agreement {
  /** What the first block says about the sandbox and about what runs without asking, each in words. */
  readonly lines: readonly string[];
  /** Whether the person agreed to exactly that for this path. */
  readonly agreed: boolean;
}

/** What a new document begins with, as document text. */
export interface NewChatContent {
  /** Settings of its first block, as a table of JSON; they must need nobody's agreement. @default no such block */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Instructions to the model. @default no such message */
  readonly system?: string;
  /** The first question. @default empty, to be written by the person */
  readonly question?: string;
}

/**
 * One document with everything its loop takes. What protects it is inside: whose word counts, protected paths, previews,
 * notices of the sandbox. Dispose of it with `await using`, or its lock stays until the program ends.
 *
 * When the first block has changed since a method was called last, the next one goes by the new block; while its
 * settings cannot be read, nothing is decided, run or sent.
 */
export interface ChatSession extends AsyncDisposable {
  /** Absolute path, or null when unsaved. */
  readonly path: string | null;
  /** The document now; a new object after every change. */
  readonly chat: Chat;
  /** What holds for the document, its first block included. */
  readonly settings: Settings;
  /** The settings without the document's, their files, notices and origins. */
  readonly loaded: LoadedSettings;
  /** What the first block says of settings and variables, with its findings. */
  readonly document: FirstBlock;
  /** The wall around the document's tools. */
  readonly sandbox: RunSandbox;
  /** Whether the loop goes on by itself now. */
  readonly autopilot: AutopilotState;
  /** Findings that keep everything from starting. */
  readonly blockers: readonly FrontmatterDiagnostic[];
  /**
   * Why policy does not decide about the calls of this document, or what of its text counts only once the person
   * confirms it: sentences, each with what to do.
   */
  readonly doubts: readonly string[];

  /**
   * One press and all that follows by itself, until a person is needed or the reply is complete.
   *
   * @param options `goOn`: ask the model to continue where it, or nobody, spoke last
   * @returns why it came to rest. Whatever goes wrong is in there; it rejects only with a fault of the program.
   */
  advance(options?: { readonly goOn?: boolean }): Promise<Stop>;
  /**
   * Only the request.
   *
   * @param options `goOn`: ask the model to continue where it, or nobody, spoke last
   * @returns how it ended; reason `pending`, `protected` or `unanswered`, with nothing sent, while calls have no result
   */
  send(options?: { readonly goOn?: boolean }): Promise<Stop>;
  /**
   * Runs or resolves one call now, whatever its state; what policy denies is refused (`denied-by-policy`).
   *
   * @param target the call; several at once are refused
   * @returns why it came to rest
   */
  execute(target: CallTarget): Promise<Stop>;
  /**
   * Marks calls as approved by a person. All or none; nothing runs.
   *
   * @param targets the calls
   * @returns their ids. Fails with `preview-cut` for a call that was pointed at by neither id nor line and whose
   * preview does not show all of it (S5), and like `reject`.
   */
  approve(...targets: readonly CallTarget[]): Promise<Outcome<readonly string[]>>;
  /**
   * Marks calls as rejected. All or none; nothing runs.
   *
   * @param targets the calls
   * @param message what the model is told. By default a sentence that says no more than that.
   * @returns their ids. Fails with `unknown-call`, `no-pending-call`, `no-result-block`, `already-completed`,
   * `already-running`, `target-ambiguous`, `target-needed`, `no-call-here`, `read-only`, `session-closed`, or with what
   * is in the way of writing.
   */
  reject(targets: CallTarget | readonly CallTarget[], message?: string): Promise<Outcome<readonly string[]>>;
  /**
   * Cancels one thing: the running request, else the call that was started first, else a press.
   *
   * @returns false when nothing runs
   */
  cancel(): boolean;
  /**
   * Cancels one running call.
   *
   * @param id its id
   * @returns false when it does not run
   */
  cancelCall(id: string): boolean;

  /**
   * A tool of the document, with its origin and rights. Starts no server, and no source of a host.
   *
   * @param name its name
   * @returns undefined where there is none that is known
   */
  tool(name: string): Promise<RegisteredTool | undefined>;
  /**
   * The steps that the next advance would take; none while something is in its way. Nothing is changed.
   *
   * @returns the steps
   */
  plan(): Promise<readonly Step[]>;
  /**
   * The calls without a final result, each with what policy says and one line that shows it.
   *
   * @returns the calls in document order
   */
  calls(): Promise<readonly OpenCall[]>;
  /**
   * Why calls are decided as they are: what each resolver says of them, and what rules make of their parts.
   *
   * @param targets the calls; without any all that are open
   * @returns the calls in document order. Fails like `reject` for what names no call, or with what is wrong with the settings.
   */
  explain(...targets: readonly CallTarget[]): Promise<Outcome<readonly ExplainedCall[]>>;
  /**
   * One call as a person has to see it who decides about it: all of it, with a diff for what it would write.
   *
   * @param target the call
   * @returns what is shown. Fails like `explain`, or with `target-ambiguous` for several calls.
   */
  show(target: CallTarget): Promise<Outcome<ShownCall>>;
  /**
   * The same for all calls without a final result, in one look at the document.
   *
   * @returns the calls in document order. Fails like `explain`.
   */
  showOpen(): Promise<Outcome<readonly ShownCall[]>>;
  /**
   * The rule that approves a call like this one again: of a command its very words, of a path that path, else the tool.
   *
   * @param target the call
   * @param written a rule of the person's own, as settings have it, to be checked instead
   * @returns the rule. Fails like `show`, with `rule-impossible` where no such rule can approve the call, or with
   * `rule-invalid` for a rule that is none.
   */
  proposeRule(
    target: CallTarget,
    written?: Readonly<Record<string, unknown>>,
  ): Promise<Outcome<ProposedRule>>;
  /**
   * Lets a rule hold for this document until logout. It counts like one of the command line: also where the document has
   * a list of its own, never against what asks or denies.
   *
   * @param rule the rule as settings have it
   * @returns nothing. Fails with `rule-invalid`, with `usage` for a text without a path, or with what is in the way of
   * keeping it.
   */
  addRule(rule: Readonly<Record<string, unknown>>): Promise<Outcome<void>>;
  /**
   * Takes such a rule back.
   *
   * @param rule the rule as it was added
   * @returns whether it was there
   */
  removeRule(rule: Readonly<Record<string, unknown>>): Promise<Outcome<boolean>>;
  /**
   * The rules that hold for this document until logout.
   *
   * @returns the rules in the order in which they were added
   */
  rules(): Promise<Outcome<readonly ProposedRule[]>>;
  /**
   * The exact request that `send` would make, the secret hidden. Nothing is sent and nothing remembered.
   *
   * @returns the request, or what is in its way
   */
  request(): Promise<Prepared>;
  /**
   * What `send` would come to in tokens and money. The provider is asked to count where it can; nothing is sent to the
   * model and nothing remembered.
   *
   * @returns the estimate. Fails like a send, or with `not-counted`.
   */
  estimate(): Promise<Outcome<Estimate>>;
  /**
   * What a call would make of a file, as texts.
   *
   * @param id the id of the call
   * @returns the texts; null for a call that writes no file, and where there is nothing to compare
   */
  fileTexts(id: string): Promise<FileTexts | null>;
  /**
   * Everything that is wrong with the text, its first block and its templates.
   *
   * @returns the findings in document order
   */
  diagnose(): Promise<Diagnosis>;
  /**
   * What a person would agree to by trusting the document as it is. Nothing is changed.
   *
   * @returns the agreement. Fails with what is wrong in the first block or the settings, or with `usage` for a text
   * without a path, to which no agreement can be bound.
   */
  agreement(): Promise<Outcome<Agreement>>;
  /**
   * Records that the person agrees to that. The document stays as it is.
   *
   * @returns what was agreed to. Fails like `agreement`, or with what is in the way of keeping it.
   */
  trust(): Promise<Outcome<Agreement>>;
  /**
   * Who else runs this document.
   *
   * @returns the other run; null when there is none
   */
  holder(): Promise<Holder | null>;
  /**
   * Which files that run when the person starts a tool were changed by commands, in the last run that changed any.
   *
   * @returns the changes in the order they were found out
   */
  fileChanges(): Promise<readonly FileChange[]>;
  /**
   * Edits by somebody who holds the text, as an editor does. They do not say that the document was written on this
   * machine: who types in a stranger's document has not agreed to its settings.
   *
   * @param edits of the present `chat`; a RangeError is thrown for edits that overlap or lie outside of it
   * @returns what is in the way of writing them; null when they are durable
   */
  edit(edits: readonly Edit[]): Promise<Problem | null>;
}
