// Types of a tool: its definition, the context of a call and the result.

import type { Environment } from "../base/environment.ts";
import type { Problem } from "../base/problem.ts";
import type { Settings } from "../config/settings.generated.ts";
import type { FileAccess, Sandbox } from "../sandbox/types.ts";

/** Decoded input of a call. It passed the tool's schema before the tool receives it. */
export type ToolInput = Readonly<Record<string, unknown>>;

/** A JSON Schema object, sent to providers unchanged. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Result of a tool. */
export interface ExecutionResult {
  /** True if the call succeeded. */
  readonly success: boolean;
  /** Text, or data that is written as compact JSON. */
  readonly output?: unknown;
  /** Error message for the model. */
  readonly error?: string;
  /** True to return control to the person, after all results of this reply are written. */
  readonly yieldToUser?: boolean;
  /**
   * Set if the call did not run and can run later: what the person has to do first. No result is written, the call
   * stays approved, and the run stops for the person.
   */
  readonly needs?: Problem;
  /** Short text that is shown only on a terminal and in events. */
  readonly status?: string;
  /**
   * Names of attached images and files, kept in the state folder under their SHA-256. The text has a line about each.
   */
  readonly attachments?: readonly string[];
  /** Present if the call has no result yet, because it waits in another document. Only built-in tools may say so. */
  readonly waits?: WaitsElsewhere;
  /**
   * Present if the call has no result yet, because its server asks the person something. Only tools of servers may say
   * so.
   */
  readonly asks?: AsksPerson;
}

/** What a server asks the person during a call. */
export interface AsksPerson {
  /** The questions as YAML with the default answers, which the person edits. */
  readonly questions: string;
  /** What the server needs to go on, and the forms of the answers; kept in the state folder. */
  readonly state: string;
  /** What the call waits for, as a sentence. */
  readonly message: string;
}

/** What a person answered to the questions of a server. */
export interface PersonsAnswers {
  /** The edited questions; null if the person declined to answer. */
  readonly answers: string | null;
  /** The kept `state` of the questions. */
  readonly state: string;
}

/** A call that waits in the document of a helper. */
export interface WaitsElsewhere {
  /** Short name of the helper. */
  readonly helper: string;
  /** Path of its document. */
  readonly document: string;
  /** What it waits for, as a sentence. */
  readonly message: string;
  /** Ends the whole run, such as a limit of the run that was reached. @default the run goes on */
  readonly ends?: Problem;
}

/** Preview of a call: a string, or a label and details that are joined. */
export type Preview = string | { label?: string; detail?: string | readonly string[] };

/** Content of a file after a call. */
export interface Rewrite {
  /** New content; null if the call would not change the file. */
  readonly after: Uint8Array | null;
  /** Reason why the call will fail, as a sentence; null if no reason is known. */
  readonly obstacle: string | null;
}

/**
 * What calls of a tool may do: `none` neither read nor change anything, `reads` only read, `writes` may change
 * anything.
 */
export type Effects = "none" | "reads" | "writes";

/** Where calls run: in the sandbox, in another process outside the sandbox, or in this process. */
export type RunsIn = "inside" | "outside" | "here";

/** Who registered a tool. The program sets it at registration; a file cannot claim it. */
export type ToolOrigin = "built-in" | "host" | "module" | "file" | "server";

/** The MCP server of a tool. */
export interface ToolServer {
  /** Its name in the settings. */
  readonly name: string;
  /** Host of its address; null if it is a program on this machine. */
  readonly host: string | null;
}

/** A tool that a model may call. */
export interface ToolDefinition {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Description for the model. */
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input_schema: JsonSchema;
  /** JSON Schema of its output. */
  readonly output_schema?: JsonSchema;
  /** True if the provider is asked to enforce the input schema. */
  readonly strict?: boolean;
  /**
   * True if requests offer the tool unless settings name it; a function receives the document's settings. @default
   * true
   */
  readonly enabled?: boolean | ((settings: Settings) => boolean);
  /** True if the tool can run. @default true if `execute` is defined */
  readonly executable?: boolean;
  /**
   * Runs the tool. It may return the result or a promise of it, or call `callback` once and return a cancel function.
   * The first answer counts.
   */
  execute?(
    input: ToolInput,
    context: ExecutionContext,
    callback: (result: ExecutionResult) => void,
  ): ExecutionResult | Promise<ExecutionResult | void> | (() => void) | void | undefined;
  /** True if other tools may start while this tool runs. @default false */
  readonly async?: boolean;
  /** Preview of the call for people, `width` terminal cells wide. */
  format_preview?(input: ToolInput, width: number): Preview;
  /**
   * Returns the content that the file at the path of a call would have after the call. The person sees it before
   * approving. Only called for tools that write files.
   *
   * @param before current content; null if the file does not exist
   */
  rewrites?(input: ToolInput, before: Uint8Array | null): Rewrite;
  /** What the tool can do, for the approval chain. */
  readonly capabilities?: readonly string[];
  /**
   * What a call may change; approval and recovery use it. Only built-in tools, and tools that a program registers with
   * the library, may set it. @default "writes"
   */
  readonly effects?: Effects;
  /**
   * Where a call runs. Only built-in tools, and tools that a program registers with the library, may set it. @default
   * "here"
   */
  readonly runs?: RunsIn;
  /** Schema of `tools.NAME`; its `default`s apply where the settings have no value. */
  readonly config_schema?: JsonSchema;
  /** Input member that holds a path, for approval rules. */
  readonly path_input?: string;
  /**
   * Set if the tool searches the folder at its path, or its working folder if the input has no path. The value says
   * what results reveal: file names only, or contents too.
   */
  readonly searches?: "names" | "contents";
  /** File access inside this process. The call waits until no command could replace the files meanwhile. */
  readonly files?: FileAccess;
  /** True if the tool does all file work through the context's `disk`. @default false */
  readonly on_disk?: boolean;
  /**
   * Harm the tool can do, by its author. Approval uses it; it counts only in tool files. @default medium for tool files,
   * otherwise none
   */
  readonly risk?: "low" | "medium" | "high";
  /** True if only this call of a reply runs; the others get an error result that explains it. @default false */
  readonly exclusive?: boolean;
  /**
   * True if a call goes on when it is run again, after its run was killed or while it waits in another document. Only
   * built-in tools may set it. @default false
   */
  readonly continues?: boolean;
  /**
   * Maximum number of calls in parallel, counted apart from `tools.max_concurrent`. Only built-in tools may set it.
   * @default the setting
   */
  readonly most_parallel?: number;
  /** Category given by the tool's author. */
  readonly category?: string;
  /** Absolute path of the tool file that defines the tool. Only tool files have it. */
  readonly file?: string | null;
  /** The MCP server that runs the tool. Only tools of servers have it. */
  readonly server?: ToolServer;
  /** Why a tool file cannot be used, as a sentence. Only tool files have it. */
  readonly fault?: string;
  /** Input member that holds a shell command, for approval rules. */
  readonly command_input?: string;
  /**
   * What generated system prompts say about the tool, by personality: `snippet`, a few words on its purpose, and
   * `guidelines`, how to use it well.
   */
  readonly personalities?: Readonly<Record<string, PersonalityParts>>;
  /** Validator generated ahead of time; without it the schema is compiled on first use. */
  readonly validate?: InputValidator;
}

/** What a generated system prompt says about one tool. Parts with other names have no effect. */
export interface PersonalityParts {
  /** A few words on its purpose. */
  readonly snippet?: string | readonly string[];
  /** How to use it well, one sentence each. */
  readonly guidelines?: string | readonly string[];
  /** Parts for other prompts. */
  readonly [part: string]: string | readonly string[] | undefined;
}

/** The personality that comes with the program; the built-in tools define parts for it. */
export const CODING_ASSISTANT = "coding-assistant";

/** A definition passed to `register`: the name may be a separate argument, and the description is optional. */
export type Registration = Partial<ToolDefinition> & Pick<ToolDefinition, "input_schema">;

/** Capability of a tool whose calls may be approved because they run in a working sandbox. */
export const SANDBOX_CAPABILITY = "can_auto_approve_if_sandboxed";

/** Capability of a tool whose result may be a single file reference, which is then attached. */
export const FILE_RESULT_CAPABILITY = "template_tool_result";

/** Names of the capabilities in newer versions of flemma.nvim, with the names used here. */
const NEWER_CAPABILITIES: Readonly<Record<string, string>> = {
  auto_approves_if_sandboxed: SANDBOX_CAPABILITY,
  emits_template: FILE_RESULT_CAPABILITY,
};

/** Returns the capability under the name that is used here; unknown ones stay. */
export function knownCapability(name: string): string {
  return Object.hasOwn(NEWER_CAPABILITIES, name) ? NEWER_CAPABILITIES[name]! : name;
}

/** A tool of the program; it must declare its effects and where it runs. */
export type BuiltinTool = ToolDefinition & Pick<RegisteredTool, "effects" | "runs">;

/** A tool in a registry, with the rights that its origin allows. */
export interface RegisteredTool extends ToolDefinition {
  /** Who registered the tool. */
  readonly origin: ToolOrigin;
  /** Absolute path of the module or tool file that defines the tool; null for other tools. */
  readonly file: string | null;
  /** What a call may change. */
  readonly effects: Effects;
  /** Where a call runs. */
  readonly runs: RunsIn;
}

/** True if a working sandbox confines the tool's calls. A tool without effects needs no sandbox. */
export function isBounded(tool: Partial<Pick<RegisteredTool, "effects" | "runs">> | undefined): boolean {
  return tool?.runs === "inside" || tool?.effects === "none";
}

/** Returns at most five problems as `pointer: what is wrong`; empty means valid. */
export type InputValidator = (input: unknown) => readonly string[];

/** Facts and services that a tool receives in addition to its input. */
export interface ExecutionContext {
  /** Absolute path of the `.chat` file, or null when unsaved. */
  readonly document: string | null;
  /** File name of the document, or null when unsaved. */
  readonly filename: string | null;
  /** Folder of the document, or null when unsaved. */
  readonly dirname: string | null;
  /** Working folder of the tool. */
  readonly cwd: string;
  /** Time limit in seconds. */
  readonly timeout: number;
  /** Id of the call. */
  readonly toolId: string;
  /** Signal that aborts when the call is canceled. */
  readonly signal: AbortSignal;
  /** Working folder, home folder and all variables of the program itself. */
  readonly environment: Environment;
  /** Environment variables for child processes, already filtered. */
  readonly env: Readonly<Record<string, string>>;
  /** The sandbox for commands. */
  readonly sandbox: Sandbox;
  /**
   * Performs the file work of the built-in tools inside the sandbox of commands.
   *
   * @default the work is done in this process
   */
  readonly disk?: DiskAccess;
  /** Makes input paths absolute. */
  readonly path: { resolve(path: string): string };
  /** Shortens long text as the built-in tools do. */
  readonly truncate: Truncate;
  /** State of each file when a call of this document last saw it. @default nothing is remembered */
  readonly seen?: SeenFiles;
  /** Called with the real path of a file that the tool changed. */
  onFileChanged?(path: string): void;
  /**
   * Saves the content of a file so that the person can restore it. Await this directly before the change. After the
   * change, even if it failed, await the returned function.
   */
  keepReplaced?(file: ReplacedFile): Promise<() => Promise<void>>;
  /** Who made the call, and which services of the program the tool may use. @default unknown */
  readonly caller?: Caller;
  /** The person's answers to what the server of the tool asked in this call. @default it asked nothing */
  readonly answers?: PersonsAnswers;
  /** Set if a command runs as a background job. @default the command runs while the call waits */
  readonly background?: BackgroundRun;
  /** Shows output while the tool runs. */
  onOutput(chunk: string): void;
  /** Reports to the person what the tool waits for before it starts. */
  onWait?(message: string): void;
  /** Deep copy of `tools.NAME` merged over the tool's own defaults, or null when there is neither. */
  getConfig(): Record<string, unknown> | null;
  /** Releases what the context prepared. The code that runs the tool calls it once; the tool never does. */
  release?(): Promise<void>;
}

/** A command that runs as a background job: without a time limit of its own, and with its own place for output. */
export interface BackgroundRun {
  /** Creates the place for the output. Called again if the command has to be started again. */
  createOutput(): CommandOutput;
  /** Returns why the command was stopped, as a sentence. */
  stopped(): string;
}

/** Takes the output of a command in bounded memory. */
export interface CommandOutput {
  /** Adds bytes; await it before adding more. */
  push(chunk: Uint8Array): Promise<void>;
  /** Returns the text to show. Call once. */
  finish(): Promise<string>;
  /** Ends without a text, and removes what was stored. */
  abandon(): Promise<void>;
}

/** A file that a tool is about to change. */
export interface ReplacedFile {
  /** Real path of the file. */
  readonly path: string;
  /** The path as the model wrote it. */
  readonly shownAs: string;
}

/** Performs file operations for the built-in tools. */
export interface DiskAccess {
  /**
   * Performs one operation. Rejects with its failure, or with the signal's reason.
   *
   * @param request plain data
   */
  perform(operation: string, request: object, signal: AbortSignal): Promise<unknown>;
}

/** The run that a call belongs to. */
export interface Caller {
  /** Unique for each invocation of the program. */
  readonly requestId: string;
  /** Stable for a document with a path; a new one for each other document. */
  readonly conversationId: string;
  /** True if a person is present to answer questions. */
  readonly interactive: boolean;
  /** True if a person approved this very call. */
  readonly approvedByPerson: boolean;
  /** Names of the tools that a request offers. */
  readonly offered: readonly string[];
  /** Sends a message to the person that is not for the model. */
  tell(message: unknown): void;
  /** Asks the person for a secret, which is not stored; null if they give none. Absent if no person can be asked. */
  askSecret?(question: string): Promise<string | null>;
}

/** State of a file when a call last saw it. */
export interface SeenFile {
  /** SHA-256 of the content, hexadecimal. */
  readonly hash: string;
  /** Size in bytes. */
  readonly size: number;
  /** Modification time in milliseconds. */
  readonly mtime: number;
}

/** State of files as the calls of one document last saw them, by real path. */
export interface SeenFiles {
  /** All files that were seen, the least recently seen first. */
  readonly paths: readonly string[];
  /**
   * Recorded state of a file.
   *
   * @param path its real path
   * @returns null if no call saw it
   */
  get(path: string): SeenFile | null;
  /**
   * Records what calls saw.
   *
   * @param files pairs of real path and state
   */
  record(files: readonly (readonly [string, SeenFile])[]): Promise<void>;
}

/** Result of the truncation functions; plugins rely on the field names. */
export interface Truncation {
  /** The text that remains. */
  readonly content: string;
  /** True if something was left out. */
  readonly truncated: boolean;
  /** Which limit was reached first; null if none was. */
  readonly truncated_by: "lines" | "bytes" | null;
  /** Lines of the whole text. */
  readonly total_lines: number;
  /** Bytes of the whole text. */
  readonly total_bytes: number;
  /** Lines that remain. */
  readonly output_lines: number;
  /** Bytes that remain. */
  readonly output_bytes: number;
  /** True if the last remaining line is cut. */
  readonly last_line_partial: boolean;
  /** True if the first line alone exceeds the limit, so that nothing remains. */
  readonly first_line_exceeds_limit: boolean;
}

/** Limits for shortened text. */
export interface Limits {
  /** Number of lines. @default the setting */
  readonly maxLines?: number;
  /** Number of bytes. @default the setting */
  readonly maxBytes?: number;
}

/** Which end of a text remains, and the parts of its overflow file's name. */
export interface LongTextOptions extends Limits {
  /** The end of the text that remains. */
  readonly direction: "head" | "tail";
  /** Source of the text. @default the name of the tool */
  readonly source?: string;
  /** Id that distinguishes the text from other texts of the same source. @default the id of the call */
  readonly id?: string;
}

/** Accepts a text in pieces, which may be split anywhere. */
export interface TextInPieces {
  /** Adds the next piece; await it before adding another. */
  push(text: string): Promise<void>;
  /** Returns the text, shortened as for a result. */
  finish(): Promise<string>;
  /** Discards the text and removes the file. Does nothing after `finish`. */
  abandon(): Promise<void>;
}

/** Shortens long text as the built-in tools do. */
export interface Truncate {
  /** Default limit in lines. */
  readonly MAX_LINES: number;
  /** Default limit in bytes. */
  readonly MAX_BYTES: number;
  /** Default limit of one line, in bytes of UTF-8. */
  readonly MAX_LINE_CHARS: number;
  /** Keeps the beginning of a text. */
  truncateHead(text: string, limits?: Limits): Truncation;
  /** Keeps the end of a text. */
  truncateTail(text: string, limits?: Limits): Truncation;
  /** Shortens one line by cutting its end. */
  truncateLine(line: string, maxBytes?: number): string;
  /** Keeps one end of a text, and writes the whole text to a file that the result names. */
  truncateWithOverflow(
    text: string,
    options: LongTextOptions,
  ): Promise<string>;
  /** Like `truncateWithOverflow`, for a text that arrives in pieces: memory holds no more than what remains. */
  longText(options: LongTextOptions): TextInPieces;
  /** Formats a number of bytes for people, e.g. `1.5KB`. */
  formatSize(bytes: number): string;
}

/** Error of a tool that returned nothing, or something that is not a result. */
export const NO_RESULT = "The tool ended without a result.";

/** Error of a tool that the person stopped. */
export const STOPPED = "The user stopped this tool before it finished.";

/** Returns the error of a call whose tool is defined, but has no implementation in this program. */
export function notExecutable(name: string): string {
  return `The tool ${name} cannot run: it has no implementation here.`;
}

/** Input member that makes a command a background job. */
export const BACKGROUND = "flemma.background";

/** Name of the tool that reads the state and the output of a background job. */
export const JOB_STATUS = "flemma.jobs.status";

/** Name of the tool that stops a background job. */
export const JOB_STOP = "flemma.jobs.stop";
