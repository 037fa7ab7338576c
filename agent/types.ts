// Options for opening a document, and the `ChatSession` that a host gets. A host is the command line, an editor or
// another program.

import type { Environment } from "../base/environment.ts";
import type { Outcome, Problem } from "../base/problem.ts";
import type { FirstBlock, FrontmatterDiagnostic } from "../config/document/first_block.ts";
import type { Settings } from "../config/settings.generated.ts";
import type { LoadedSettings, SettingsOverrides } from "../config/sources/find.ts";
import type { Step } from "../cycle/plan/types.ts";
import type { TargetSpec } from "../cycle/plan/targets.ts";
import type { Estimate } from "../cycle/send/estimate.ts";
import type { Prepared } from "../cycle/send/request.ts";
import type { Holder } from "../cycle/storage/lock.ts";
import type { AutopilotState, DocumentStore, Emit, Stop } from "../cycle/types.ts";
import type { UsageTotal } from "../cycle/usage/record.ts";
import type { Edit } from "../parser/edits/edit.ts";
import type { Chat, Diagnostic, Lifecycle } from "../parser/types.ts";
import type { RequestLimiter } from "../providers/http/limiter.ts";
import type { Provider } from "../providers/types.ts";
import type { FileChange, RunSandbox } from "../sandbox/mod.ts";
import type { CallReasons } from "../tools/approval/reasons.ts";
import type { ProposedRule } from "../tools/approval/rules/propose.ts";
import type { ApprovalDecision, ResolverDefinition } from "../tools/approval/types.ts";
import type { JsonSchema, RegisteredTool, Registration } from "../tools/definition.ts";
import type { ResolveTools, ToolSource } from "../tools/registration/types.ts";

export type { ProposedRule } from "../tools/approval/rules/propose.ts";
export type { RegisteredTool } from "../tools/definition.ts";
export type { WrittenRule } from "../config/rules/read_rule.ts";

/** A tool in addition to the built-in ones. */
export type OwnTool = Registration & { readonly name: string };

/**
 * A source of tools in addition to the built-in ones: a definition, a source that finds them, or the path of a code
 * file.
 */
export type OwnTools = OwnTool | ToolSource | ResolveTools | string;

/** An approval resolver in addition to those of the settings. */
export type OwnResolver = ResolverDefinition & { readonly name: string };

/** Options of every way to open a document. */
export interface ChatOptions {
  /** Working folder, home folder and environment variables. @default those of this process */
  readonly environment?: Environment;
  /** Overrides of the settings files. @default none */
  readonly settings?: SettingsOverrides;
  /**
   * Tools in addition to the built-in ones, and sources of tools. A tool with the name of a built-in tool replaces
   * it.
   *
   * @default only those of `tools`, the registry of this process
   */
  readonly tools?: readonly OwnTools[];
  /** Approval resolvers in addition to those of the settings. @default none */
  readonly resolvers?: readonly OwnResolver[];
  /** Provider in place of the one that the settings name. @default the one of the settings */
  readonly provider?: Provider;
  /** Function that makes the requests. @default `fetch` of the runtime */
  readonly fetch?: typeof fetch;
  /** True to retry a request if the provider is temporarily unable to answer. @default true */
  readonly retry?: boolean;
  /** Limits the parallel requests to a provider, across all documents with this limiter. @default not shared */
  readonly limiter?: RequestLimiter;
  /** Receives each event when it happens. If it throws, the run reports that at its end. @default no receiver */
  readonly emit?: Emit;
  /** Signal that cancels all running work when it aborts, and prevents any new work. @default never aborted */
  readonly signal?: AbortSignal;
  /** True to write a reply to the document while it arrives. @default true */
  readonly stream?: boolean;
  /**
   * True to compact the document and go on when the context window is full, if the setting `context.on_full` says so.
   * Only `advance` does that, and only for a document with a path. @default false
   */
  readonly compacts?: boolean;
  /** True if a person is watching and can be asked; tools can read this. @default false */
  readonly interactive?: boolean;
  /** Asks the person for a secret that a tool needs; the secret is not saved. @default nobody can be asked */
  readonly askSecret?: (question: string) => Promise<string | null>;
  /** Receives what `print` in the frontmatter writes, in a form that is safe to show. @default dropped */
  readonly print?: (line: string) => void;
}

/** Options for opening a file. */
export interface OpenOptions extends ChatOptions {
  /** True to only read: takes no lock, and changes neither the document nor its journal. @default false */
  readonly readOnly?: boolean;
  /** Seconds to wait for another run that holds the document. @default 0 */
  readonly wait?: number;
  /**
   * Receives notices about the file, such as merged changes and text that was set aside. @default sent as `notice`
   * events
   */
  readonly notify?: (notice: Problem) => void;
}

/** Options for opening a text without a file. */
export interface MemoryOptions extends ChatOptions {
  /**
   * The path that identifies the document, relative to the working folder: for its settings, references and journal.
   * The file at this path is not touched. @default null, unsaved
   */
  readonly path?: string | null;
  /**
   * Stores the text, for instance in an editor's buffer; its path and text replace those given here.
   * @default memory
   */
  readonly store?: DocumentStore;
  /** True to only read: changes neither the text nor its journal. @default false */
  readonly readOnly?: boolean;
}

/**
 * Names one or more calls in one of these ways: by id, by the number of a call, by the beginning or end of an id, by
 * line, by tool, as the only pending call, or as all calls.
 */
export type CallTarget = string | Exclude<TargetSpec, { readonly kind: "id" }>;

/** A call without a final result. */
export interface OpenCall {
  /** The id of the call. */
  readonly id: string;
  /** Number of the call among all calls of the document, final ones included; 1-based. */
  readonly number: number;
  /** Name of the call's tool. */
  readonly name: string;
  /** The status in the call's block. `open` means that it has no block yet, `running` that it is running now. */
  readonly status: "open" | "running" | Lifecycle;
  /** Line of the call's block, or of the call if it has no block; 1-based. */
  readonly line: number;
  /** The call in one line that is safe to show. */
  readonly preview: string;
  /** True if the preview omits something. If so, only a target that is the call's id or line approves the call. */
  readonly previewIsCut: boolean;
  /**
   * True if the call's block contains text. The text becomes the result of a pending call; an approved call with text
   * does not run.
   */
  readonly hasText: boolean;
  /**
   * Why the approval in the call's block does not count, as the end of a sentence, so that the call waits; null if it
   * counts, or if there is none.
   */
  readonly doubt: string | null;
  /** The current approval decision, and its source. */
  readonly decided: ApprovalDecision;
  /** The helper in whose document the approved call waits; null if it waits here, or does not wait. */
  readonly helper: WaitingHelper | null;
  /** What the server of the call asks in the call's block; null if it asks nothing. */
  readonly questions: OpenQuestions | null;
}

/** What the server of a call asks the person. */
export interface OpenQuestions {
  /** The questions as YAML, with the answers so far. */
  readonly text: string;
  /** Why the answers cannot be sent yet, as the end of a sentence that names the field; null if they can be sent. */
  readonly problem: string | null;
  /** The questions for a program that shows forms; empty if they are not known on this machine. */
  readonly forms: readonly QuestionForm[];
}

/** One question of a server. */
export interface QuestionForm {
  /** The server's key of the question. */
  readonly key: string;
  /** The server's words, as it sent them. */
  readonly message: string;
  /** Schema of the answers, a flat object; null if the server asks to open a page. */
  readonly schema: JsonSchema | null;
  /** Address of the page that the person should open; null for a form. */
  readonly url: string | null;
}

/** A helper that has not answered yet. */
export interface WaitingHelper {
  /** Short name of the helper. */
  readonly name: string;
  /** Absolute path of its document. */
  readonly path: string;
  /** The open calls in its document. */
  readonly calls: readonly OpenCall[];
}

/** A call in one line. */
export type CallSummary = Pick<OpenCall, "id" | "number" | "preview">;

/** The reasons for the decision about a call. */
export interface ExplainedCall extends CallReasons {
  /** The id of the call. */
  readonly id: string;
  /** Name of the call's tool. */
  readonly tool: string;
  /** The call in one line that is safe to show. */
  readonly preview: string;
  /** What happens to the call: it runs, waits for a person or is denied. */
  readonly decision: ApprovalDecision["decision"];
  /** The resolver that decided; `default` if none did. */
  readonly source: string;
  /** The approval profile in use, which sets the order of resolvers. */
  readonly profile: Settings["tools"]["approval_profile"];
}

/** A file before and after a call that would write it. */
export interface FileTexts {
  /** Real path of the file. */
  readonly path: string;
  /** The current text; null if there is no file yet. */
  readonly before: string | null;
  /** The text after the call. */
  readonly after: string;
}

/** One part of a call. */
export interface ShownPart {
  /** The kind: the command, a path, a diff, a member of the input, or the name that the model gave the call. */
  readonly kind: "command" | "path" | "diff" | "member" | "label";
  /** The member of the input that the part shows. */
  readonly name: string;
  /** The complete text, in lines that are safe to show. */
  readonly text: string;
}

/** A call as shown to the person who decides about it. */
export interface ShownCall {
  /** The id of the call. */
  readonly id: string;
  /** Number of the call among all calls of the document; 1-based. */
  readonly number: number;
  /** Name of the call's tool. */
  readonly tool: string;
  /** The line of the call; 1-based. */
  readonly line: number;
  /** The call, part by part. */
  readonly parts: readonly ShownPart[];
  /** The input unchanged, which is not safe to show. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Sentences that a person should read before the decision. */
  readonly warnings: readonly string[];
  /** The folder in which the call starts, or to which its path belongs. */
  readonly folder: string;
  /** True if the call would run in the sandbox now. */
  readonly sandboxed: boolean;
  /** What confines the call, or the reason why nothing confines it, as the end of a sentence. */
  readonly wall: string;
  /** Explanation of the decision about the call. */
  readonly explained: ExplainedCall;
  /**
   * Hash of everything shown, of the input as written, and of the call's block. A different hash means that the call
   * has changed.
   */
  readonly digest: string;
}

/** What is wrong with a document, in document order, and whether it blocks a request. */
export interface Diagnosis {
  /** All findings. */
  readonly diagnostics: readonly Diagnostic[];
  /** True if one of the findings is an error. */
  readonly blocked: boolean;
}

/** What a person agrees to when they trust a document. */
export interface Agreement {
  /** What the frontmatter changes about the sandbox and about automatic approval, each in words. */
  readonly lines: readonly string[];
  /** True if the person agreed to exactly these changes for this path. */
  readonly agreed: boolean;
}

/** The first content of a new document, as document text. */
export interface NewChatContent {
  /** Settings of the document's frontmatter, as a JSON object; they must need no agreement, except `cwd`. @default no frontmatter */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Instructions to the model. @default no such message */
  readonly system?: string;
  /** The first question. @default empty, for the person to write */
  readonly question?: string;
}

/** Options of `say`. */
export interface SayOptions {
  /** True if template tags and references in the text take effect, as if the person had typed them. @default false */
  readonly evaluate?: boolean;
  /** A text of any origin, quoted in a fence below the message. `name` is the language of the fence. */
  readonly quoted?: { readonly text: string; readonly name?: string };
}

/** How a run ended, with what the model wrote and what that used. */
export interface RunResult extends Stop {
  /** The text of the model's last message, without thinking and calls; empty if the model wrote no text in this run. */
  readonly reply: string;
  /**
   * Tokens and cost of the requests of this run, without those of its helpers, which `flemma usage` counts; null if none
   * was sent, or if none reported them.
   */
  readonly usage: UsageTotal | null;
}

/**
 * One open document with everything that the agent loop needs. Its protections are built in: approval decisions and
 * their downgrades, protected paths, previews, notices of the sandbox. Dispose of it with `await using`, or its lock
 * stays until the program ends.
 *
 * If the frontmatter has changed since the last method call, the next call uses the new one. While its settings cannot
 * be read, no call is decided or run, and nothing is sent.
 */
export interface ChatSession extends AsyncDisposable {
  /** Absolute path, or null when unsaved. */
  readonly path: string | null;
  /** The current document, a new object after every change. */
  readonly chat: Chat;
  /** The effective settings, including the document's frontmatter. */
  readonly settings: Settings;
  /** The settings of all layers except the document's, with the files, notices and origins of these settings. */
  readonly loaded: LoadedSettings;
  /** The settings and variables of the frontmatter, with its findings. */
  readonly document: FirstBlock;
  /** The sandbox of the document's tools. */
  readonly sandbox: RunSandbox;
  /** State of the autopilot: whether it is continuing the run now. */
  readonly autopilot: AutopilotState;
  /** Findings that prevent all steps. */
  readonly blockers: readonly FrontmatterDiagnostic[];
  /**
   * Sentences that explain why policy does not decide calls of this document, or which parts of the document take
   * effect only after the person confirms them. Each names the remedy.
   */
  readonly doubts: readonly string[];

  /**
   * Takes one step. With autopilot, continues until a person is needed or the reply is complete.
   *
   * @param options `goOn`: ask the model to continue even if it spoke last, or if nobody spoke
   * @returns why it stopped, including any failure; it rejects only with a fault of the program
   */
  advance(options?: { readonly goOn?: boolean }): Promise<RunResult>;
  /**
   * Sends only the request.
   *
   * @param options `goOn`: ask the model to continue even if it spoke last, or if nobody spoke
   * @returns how it ended. If a call has no result, nothing is sent, and the reason is `pending`, `protected` or
   * `unanswered`
   */
  send(options?: { readonly goOn?: boolean }): Promise<RunResult>;
  /**
   * Runs or resolves one call now, whatever its status; a call that policy denies is refused (`denied-by-policy`).
   *
   * @param target the call; several at a time are refused
   * @returns why it stopped
   */
  execute(target: CallTarget): Promise<RunResult>;
  /**
   * Marks calls as approved by a person, all or none. Nothing runs.
   *
   * @param targets the calls
   * @returns their ids. Fails like `reject`, and with `preview-cut` for a call whose preview omits something, unless
   * the target is this call's id or line.
   */
  approve(...targets: readonly CallTarget[]): Promise<Outcome<readonly string[]>>;
  /**
   * Marks calls as rejected, all or none. Nothing runs.
   *
   * @param targets the calls
   * @param message the text for the model. By default a sentence that only says that the call was rejected.
   * @returns their ids. Fails with `unknown-call`, `no-pending-call`, `no-result-block`, `already-completed`,
   * `already-running`, `target-ambiguous`, `target-needed`, `no-call-here`, `read-only`, `session-closed`, or with
   * the problem that prevents writing.
   */
  reject(targets: CallTarget | readonly CallTarget[], message?: string): Promise<Outcome<readonly string[]>>;
  /**
   * Writes answers to the server of a call into the call's block, and approves the call. Nothing runs.
   *
   * @param id the call
   * @param answers by key of the question and name of the field; fields without an answer are not sent
   * @returns fails like `approve`, with `invalid-answers` if the answers do not fit, and with `questions-gone` if the
   * server asks nothing that is known here.
   */
  answer(
    id: string,
    answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ): Promise<Outcome<readonly string[]>>;
  /**
   * Cancels one thing: the running request; without one, the call that started first; without a call, a step that is
   * about to begin.
   *
   * @returns false if nothing runs
   */
  cancel(): boolean;
  /**
   * Cancels one running call.
   *
   * @param id its id
   * @returns false if it does not run
   */
  cancelCall(id: string): boolean;

  /**
   * Looks up a tool of the document, with its origin and rights. Does not start MCP servers and does not query a
   * host's tool sources.
   *
   * @param name its name
   * @returns undefined if no such tool is known
   */
  tool(name: string): Promise<RegisteredTool | undefined>;
  /**
   * Plans the steps of the next advance. Changes nothing.
   *
   * @returns the steps; none while something blocks them
   */
  plan(): Promise<readonly Step[]>;
  /**
   * Lists the calls without a final result, each with its approval decision and a one-line preview.
   *
   * @returns the calls in document order
   */
  calls(): Promise<readonly OpenCall[]>;
  /**
   * Returns some calls in one line each. Unlike `calls`, it makes no decision about them, so it needs no sandbox.
   *
   * @param ids ids of calls; others are left out
   * @returns the calls in document order
   */
  summaries(ids: readonly string[]): Promise<readonly CallSummary[]>;
  /**
   * Explains the decisions about calls: the answer of each resolver, and the effect of rules on the parts of a call.
   *
   * @param targets the calls; by default all open ones
   * @returns the calls in document order. Fails like `reject` if a target matches no call, or with what is wrong in
   * the settings.
   */
  explain(...targets: readonly CallTarget[]): Promise<Outcome<readonly ExplainedCall[]>>;
  /**
   * Shows one call completely to the person who decides about it, with a diff of the file that it would write.
   *
   * @param target the call
   * @returns what to show. Fails like `explain`, or with `target-ambiguous` for several calls.
   */
  show(target: CallTarget): Promise<Outcome<ShownCall>>;
  /**
   * Shows all calls without a final result, from one version of the document.
   *
   * @returns the calls in document order. Fails like `explain`.
   */
  showOpen(): Promise<Outcome<readonly ShownCall[]>>;
  /**
   * Proposes the rule that approves a call like this one again. The rule covers the exact words of a command, or the
   * path of a call, or else the tool.
   *
   * @param target the call
   * @param written a rule of the person's own to check instead, as in the settings
   * @returns the rule. Fails like `show`, with `rule-impossible` if no such rule can approve the call, or with
   * `rule-invalid` for an invalid rule.
   */
  proposeRule(
    target: CallTarget,
    written?: Readonly<Record<string, unknown>>,
  ): Promise<Outcome<ProposedRule>>;
  /**
   * Adds a rule for this document, for this session. It has the effect of a rule on the command line: it applies even
   * if the document has a list of its own, but never overrides a rule that asks or denies.
   *
   * @param rule the rule as in the settings
   * @returns nothing. Fails with `rule-invalid`, with `usage` for a text without a path, or with the problem that
   * prevents saving it.
   */
  addRule(rule: Readonly<Record<string, unknown>>): Promise<Outcome<void>>;
  /**
   * Removes a rule that was added for this session.
   *
   * @param rule the rule as it was added
   * @returns whether it existed
   */
  removeRule(rule: Readonly<Record<string, unknown>>): Promise<Outcome<boolean>>;
  /**
   * Lists the rules of this document for this session.
   *
   * @returns the rules in the order in which they were added
   */
  rules(): Promise<Outcome<readonly ProposedRule[]>>;
  /**
   * Builds the exact request that `send` would make, with the secret hidden. Sends and records nothing.
   *
   * @returns the request, or what prevents it
   */
  request(): Promise<Prepared>;
  /**
   * Estimates the tokens and cost of the next `send`. Asks the provider to count if it can; sends nothing to the
   * model and records nothing.
   *
   * @returns the estimate. Fails like `send`, or with `not-counted`.
   */
  estimate(): Promise<Outcome<Estimate>>;
  /**
   * Shows how a call would change a file, as texts.
   *
   * @param id the id of the call
   * @returns the texts; null if the call writes no file or there is nothing to compare
   */
  fileTexts(id: string): Promise<FileTexts | null>;
  /**
   * Finds everything that is wrong with the text, its frontmatter and its templates.
   *
   * @returns the findings in document order
   */
  diagnose(): Promise<Diagnosis>;
  /**
   * Describes what a person would agree to by trusting the current version of the document. Changes nothing.
   *
   * @returns the agreement. Fails with what is wrong in the frontmatter or the settings, or with `usage` for a text
   * without a path, because an agreement belongs to a path.
   */
  agreement(): Promise<Outcome<Agreement>>;
  /**
   * Records that the person agrees to the current version. Does not change the document.
   *
   * @returns the agreement. Fails like `agreement`, or with the problem that prevents saving it.
   */
  trust(): Promise<Outcome<Agreement>>;
  /**
   * Finds another process that runs this document.
   *
   * @returns the other run; null if there is none
   */
  holder(): Promise<Holder | null>;
  /**
   * Lists the watched files that commands changed, for the last run in which they changed any. Such files run when the
   * person starts a tool.
   *
   * @returns the changes in the order of their detection
   */
  fileChanges(): Promise<readonly FileChange[]>;
  /**
   * Writes the person's next message: below the last `@You:` if it is empty or nobody answered it yet, else in a new
   * message. The text is sent as it is: template tags and references in it do not take effect, so it may come from
   * anybody.
   *
   * @param text the message
   * @param options what the message contains beyond the text, and whether the text is evaluated
   * @returns the problem that prevents writing, such as `text-is-structure` for a text that would start a message; null
   * when the message is durable
   */
  say(text: string, options?: SayOptions): Promise<Problem | null>;
  /**
   * Applies edits from the program that holds the text, such as an editor. Such edits do not prove that the document
   * was written on this machine: a person who types in an untrusted document has not agreed to its settings.
   *
   * @param edits edits of the current `chat`; throws a RangeError if they overlap or lie outside of it
   * @returns the problem that prevents writing; null when they are durable
   */
  edit(edits: readonly Edit[]): Promise<Problem | null>;
  /** Cancels what is running, waits for its end, and releases the document. `await using` does the same. */
  close(): Promise<void>;
}
