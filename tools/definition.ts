// What a tool is (tools section 1), what it is given (4.1) and what it gives back.

import type { Environment } from "../base/environment.ts";
import type { Settings } from "../config/settings.ts";
import type { FileAccess, Sandbox } from "../sandbox/types.ts";

/** Decoded input of a call, checked against the tool's schema before the tool sees it. */
export type ToolInput = Readonly<Record<string, unknown>>;

/** A JSON Schema object, handed to providers as it is. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a tool gives back. */
export interface ExecutionResult {
  /** Whether it did what it was asked to. */
  readonly success: boolean;
  /** Text, or data that is written as compact JSON. */
  readonly output?: unknown;
  /** What went wrong, for the model. */
  readonly error?: string;
  /** Return control to the person after all results of this response are written. */
  readonly yieldToUser?: boolean;
  /** Shown on a terminal and in events only. */
  readonly status?: string;
  /** Images and files that belong to it and are kept in the state folder, by SHA-256; its text has a line about each. */
  readonly attachments?: readonly string[];
}

/** A preview is a string, or a label and details that are put together (tool-cycle section 11). */
export type Preview = string | { label?: string; detail?: string | readonly string[] };

/** A file after a call. */
export interface Rewrite {
  /** What it holds then; null where the call would not change it. */
  readonly after: Uint8Array | null;
  /** Why the call will fail, as a sentence; null where nothing is known to be in its way. */
  readonly obstacle: string | null;
}

/** What calls of a tool may change: nothing and they read nothing, nothing but they read, or anything. */
export type Effects = "none" | "reads" | "writes";

/** Where calls of a tool run: bound by the sandbox, in a process that it does not bind, or in this process. */
export type RunsIn = "inside" | "outside" | "here";

/** Who registered a tool. The program says so where it registers, never a file. */
export type ToolOrigin = "built-in" | "host" | "module" | "file" | "server";

/** A tool that a model may call. */
export interface ToolDefinition {
  /** The name the model calls. */
  readonly name: string;
  /** What it is good for, for the model. */
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input_schema: JsonSchema;
  /** JSON Schema of its output. */
  readonly output_schema?: JsonSchema;
  /** Whether the provider is asked to hold inputs to the schema. */
  readonly strict?: boolean;
  /** Whether it is offered without being named; a function is asked with the settings of the document. @default true */
  readonly enabled?: boolean | ((settings: Settings) => boolean);
  /** Whether it can run. @default whether there is `execute` */
  readonly executable?: boolean;
  /**
   * Runs the tool. It may return the result or a promise of it, or call `callback` once and return a cancel
   * function. The first answer counts.
   */
  execute?(
    input: ToolInput,
    context: ExecutionContext,
    callback: (result: ExecutionResult) => void,
  ): ExecutionResult | Promise<ExecutionResult | void> | (() => void) | void | undefined;
  /** Whether it goes on in the background while others start. @default false */
  readonly async?: boolean;
  /** The call for people, for an area so many cells wide. */
  format_preview?(input: ToolInput, width: number): Preview;
  /**
   * What a call would make of the file at its path, shown to the person who decides. Called for tools that write files.
   *
   * @param before what the file holds; null where there is none
   */
  rewrites?(input: ToolInput, before: Uint8Array | null): Rewrite;
  /** What it can do, for the approval chain. */
  readonly capabilities?: readonly string[];
  /** What a call may change. Approval and recovery go by it; counts for tools of the program and of a host. @default "writes" */
  readonly effects?: Effects;
  /** Where a call runs. Counts for tools of the program and of a host. @default "here" */
  readonly runs?: RunsIn;
  /** Schema of `tools.NAME`; its `default`s hold where the settings say nothing. */
  readonly config_schema?: JsonSchema;
  /** Input member that holds a path, for approval rules. */
  readonly path_input?: string;
  /**
   * Whether it looks through the folder that its path names, or through its working folder where it names none, and what it
   * tells of it: names of files, or also what stands in them.
   */
  readonly searches?: "names" | "contents";
  /** What the tool does with files in this program itself: it waits until no command could exchange them meanwhile. */
  readonly files?: FileAccess;
  /** Whether all its work on files goes through the context's `disk`. @default false */
  readonly on_disk?: boolean;
  /** How much harm its author thinks it can do; only tools from files say so, and approval goes by it. */
  readonly risk?: "low" | "medium" | "high";
  /** Whether of a reply that calls it only this call runs; the others get an error result that says so. @default false */
  readonly exclusive?: boolean;
  /** What kind of tool its author says it is. */
  readonly category?: string;
  /** Input member that holds a shell command, for approval rules. */
  readonly command_input?: string;
  /**
   * What generated system prompts say of the tool, by personality: `snippet`, a few words on what it is for, and
   * `guidelines`, how it is used well.
   */
  readonly personalities?: Readonly<Record<string, PersonalityParts>>;
  /** Validator made ahead of time; without it the schema is compiled when first needed. */
  readonly validate?: InputValidator;
}

/** What a generated system prompt says of one tool. Parts of other names are kept and not used. */
export interface PersonalityParts {
  /** A few words on what it is for. */
  readonly snippet?: string | readonly string[];
  /** How it is used well, a sentence each. */
  readonly guidelines?: string | readonly string[];
  /** Parts of other prompts. */
  readonly [part: string]: string | readonly string[] | undefined;
}

/** The personality that comes with the program; the built-in tools have words for it. */
export const CODING_ASSISTANT = "coding-assistant";

/** A definition as it is registered: the name may come from the call, the description may be left out. */
export type Registration = Partial<ToolDefinition> & Pick<ToolDefinition, "input_schema">;

/** Capability of a tool whose calls the sandbox alone makes safe enough to approve. */
export const SANDBOX_CAPABILITY = "can_auto_approve_if_sandboxed";

/** Capability of a tool whose result may be a single reference to a file, which is then attached. */
export const FILE_RESULT_CAPABILITY = "template_tool_result";

/** A tool of the program: it has to say what it may change and where it runs. */
export type BuiltinTool = ToolDefinition & Pick<RegisteredTool, "effects" | "runs">;

/** A tool as a registry holds it: with the rights that its origin leaves it. */
export interface RegisteredTool extends ToolDefinition {
  readonly origin: ToolOrigin;
  readonly effects: Effects;
  readonly runs: RunsIn;
}

/** Whether a sandbox that works bounds calls of a tool. One without effects needs none. */
export function isBounded(tool: Partial<Pick<RegisteredTool, "effects" | "runs">> | undefined): boolean {
  return tool?.runs === "inside" || tool?.effects === "none";
}

/** Answers with problems as `pointer: what is wrong`, at most five; empty means valid. */
export type InputValidator = (input: unknown) => readonly string[];

/** What a tool is given besides its input. */
export interface ExecutionContext {
  /** Absolute path of the `.chat` file, or null when unsaved. */
  readonly document: string | null;
  /** Name of the document in its folder, or null when unsaved. */
  readonly filename: string | null;
  /** Folder of the document, or null when unsaved. */
  readonly dirname: string | null;
  /** Working folder of the tool. */
  readonly cwd: string;
  /** Seconds. */
  readonly timeout: number;
  /** Id of the call. */
  readonly toolId: string;
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal;
  /** Directory, home and all variables of the program itself. */
  readonly environment: Environment;
  /** Variables for child processes, already filtered (S7). */
  readonly env: Readonly<Record<string, string>>;
  /** The wall around commands. */
  readonly sandbox: Sandbox;
  /**
   * Does the tools' own work on files behind the wall that commands have (tools/files/operations.ts).
   *
   * @default it is done in this process
   */
  readonly disk?: DiskAccess;
  /** Makes paths of inputs absolute. */
  readonly path: { resolve(path: string): string };
  /** Cuts long text as the built-in tools do. */
  readonly truncate: Truncate;
  /** What calls of this document last saw of files. @default nothing is remembered */
  readonly seen?: SeenFiles;
  /** Told the real path of a file that the tool changed. */
  onFileChanged?(path: string): void;
  /**
   * Keeps what a file holds, for the person to have it back. To be awaited right before the file is changed; what it answers
   * is to be awaited once the change is over, however that ended.
   */
  keepReplaced?(file: ReplacedFile): Promise<() => Promise<void>>;
  /** Who made the call, and what of the program the tool may use. @default nobody says */
  readonly caller?: Caller;
  /** Shows output while the tool runs. */
  onOutput(chunk: string): void;
  /** Tells the person that the tool has not begun yet, and what it waits for. */
  onWait?(message: string): void;
  /** Deep copy of `tools.NAME` with the tool's own defaults, or null when there is neither. */
  getConfig(): Record<string, unknown> | null;
  /** Gives back what the context had to prepare; called once by whoever runs the tool, never by the tool. */
  release?(): Promise<void>;
}

/** A file that a tool is about to change. */
export interface ReplacedFile {
  /** Its real path. */
  readonly path: string;
  /** The path as the model wrote it. */
  readonly shownAs: string;
}

/** Who does work on files for the built-in tools. */
export interface DiskAccess {
  /**
   * Does one operation. Rejects with its failure, or with the signal's reason.
   *
   * @param request plain data
   */
  perform(operation: string, request: object, signal: AbortSignal): Promise<unknown>;
}

/** The run that a call belongs to. */
export interface Caller {
  /** One for each invocation of the program. */
  readonly requestId: string;
  /** Stable for a document with a path, new for every other. */
  readonly conversationId: string;
  /** Whether somebody looks on who can be asked. */
  readonly interactive: boolean;
  /** Whether a person approved this very call. */
  readonly approvedByPerson: boolean;
  /** Names of the tools that a request offers. */
  readonly offered: readonly string[];
  /** Tells whoever looks on something that is not for the model. */
  tell(message: unknown): void;
  /** Asks the person for a secret, which is not kept; absent where nobody can be asked. Null when they give none. */
  askSecret?(question: string): Promise<string | null>;
}

/** What a file held when a call last saw it. */
export interface SeenFile {
  /** SHA-256 of the content, hexadecimal. */
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds. */
  readonly mtime: number;
}

/** What the calls of one document last saw of files, by real path. */
export interface SeenFiles {
  /** All files that were seen, those seen longest ago first. */
  readonly paths: readonly string[];
  /**
   * What was seen of a file.
   *
   * @param path its real path
   * @returns null when it was never seen
   */
  get(path: string): SeenFile | null;
  /**
   * Remembers what was seen.
   *
   * @param files real paths with what they hold
   */
  record(files: readonly (readonly [string, SeenFile])[]): Promise<void>;
}

/** Answer of the truncation functions (tool-cycle section 8); field names are the contract of the plugin. */
export interface Truncation {
  /** The text that is left. */
  readonly content: string;
  /** Whether something was left out. */
  readonly truncated: boolean;
  /** Which limit was met first; null when none was. */
  readonly truncated_by: "lines" | "bytes" | null;
  /** Lines of the whole text. */
  readonly total_lines: number;
  /** Bytes of the whole text. */
  readonly total_bytes: number;
  /** Lines that are left. */
  readonly output_lines: number;
  /** Bytes that are left. */
  readonly output_bytes: number;
  /** Whether the last line that is left is cut. */
  readonly last_line_partial: boolean;
  /** Whether the first line alone is too long, so that nothing is left. */
  readonly first_line_exceeds_limit: boolean;
}

/** How much of a text may be left. */
export interface Limits {
  /** Number of lines. @default the setting */
  readonly maxLines?: number;
  /** Number of bytes. @default the setting */
  readonly maxBytes?: number;
}

/** Which end of a text is left, and what the file with the whole of it is named after. */
export interface LongTextOptions extends Limits {
  /** The end that is left. */
  readonly direction: "head" | "tail";
  /** What the text comes from. @default the name of the tool */
  readonly source?: string;
  /** What tells it from others of the same source. @default the id of the call */
  readonly id?: string;
}

/** Takes a text in pieces that may end anywhere. */
export interface TextInPieces {
  /** Takes the next piece; to be awaited before the one after it. */
  push(text: string): Promise<void>;
  /** The text as a result may show it. */
  finish(): Promise<string>;
  /** Ends without a text, and leaves no file. Does nothing after `finish`. */
  abandon(): Promise<void>;
}

/** Cuts long text as the built-in tools do. */
export interface Truncate {
  /** Lines that are left unless the settings say otherwise. */
  readonly MAX_LINES: number;
  /** Bytes that are left unless the settings say otherwise. */
  readonly MAX_BYTES: number;
  /** Characters of one line. */
  readonly MAX_LINE_CHARS: number;
  /** Keeps the beginning. */
  truncateHead(text: string, limits?: Limits): Truncation;
  /** Keeps the end. */
  truncateTail(text: string, limits?: Limits): Truncation;
  /** Keeps the beginning of one line. */
  truncateLine(line: string, maxBytes?: number): string;
  /** Keeps one end, and puts the whole text into a file that the result names. */
  truncateWithOverflow(
    text: string,
    options: LongTextOptions,
  ): Promise<string>;
  /** `truncateWithOverflow` for a text that comes in pieces: no more of it is in memory than is left. */
  longText(options: LongTextOptions): TextInPieces;
  /** A number of bytes for people, e.g. `1.5KB`. */
  formatSize(bytes: number): string;
}

/** Error of a tool that answered with nothing, or with something that is no result. */
export const NO_RESULT = "The tool ended without giving a result.";

/** Error of a tool that was stopped by a person. */
export const STOPPED = "The user stopped this tool before it was done.";

/** Error of a tool that is only a definition. */
export function notExecutable(name: string): string {
  return `The tool ${name} cannot be executed by this program.`;
}
