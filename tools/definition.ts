// What a tool is (tools section 1), what it is given (4.1) and what it gives back.

import type { Environment } from "../base/environment.ts";
import type { Sandbox } from "../sandbox/types.ts";

/** Decoded input of a call, checked against the tool's schema before the tool sees it. */
export type ToolInput = Readonly<Record<string, unknown>>;

/** A JSON Schema object, handed to providers as it is. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ExecutionResult {
  readonly success: boolean;
  /** Text, or data that is written as compact JSON. */
  readonly output?: unknown;
  readonly error?: string;
  /** Return control to the person after all results of this response are written. */
  readonly yieldToUser?: boolean;
  /** Shown on a terminal and in events only. */
  readonly status?: string;
}

/** A preview is a string, or a label and details that are put together (tool-cycle section 11). */
export type Preview = string | { label?: string; detail?: string | readonly string[] };

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
  readonly output_schema?: JsonSchema;
  readonly strict?: boolean;
  readonly enabled?: boolean;
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
  readonly async?: boolean;
  format_preview?(input: ToolInput, width: number): Preview;
  readonly capabilities?: readonly string[];
  /** Schema of `tools.NAME`; its `default`s hold where the settings say nothing. */
  readonly config_schema?: JsonSchema;
  /** Input member that holds a path, for approval rules. */
  readonly path_input?: string;
  /** Input member that holds a shell command, for approval rules. */
  readonly command_input?: string;
  /** Validator made ahead of time; without it the schema is compiled when first needed. */
  readonly validate?: InputValidator;
}

/** Answers with problems as `pointer: what is wrong`, at most five; empty means valid. */
export type InputValidator = (input: unknown) => readonly string[];

export interface ExecutionContext {
  /** Absolute path of the `.chat` file, or null when unsaved. */
  readonly document: string | null;
  readonly filename: string | null;
  readonly dirname: string | null;
  readonly cwd: string;
  /** Seconds. */
  readonly timeout: number;
  readonly toolId: string;
  readonly signal: AbortSignal;
  readonly environment: Environment;
  /** Variables for child processes, already filtered (S7). */
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
  readonly path: { resolve(path: string): string };
  readonly truncate: Truncate;
  onOutput(chunk: string): void;
  /** Deep copy of `tools.NAME` with the tool's own defaults, or null when there is neither. */
  getConfig(): Record<string, unknown> | null;
  /** Gives back what the context had to prepare; called once by whoever runs the tool, never by the tool. */
  release?(): Promise<void>;
}

/** Answer of the truncation functions (tool-cycle section 8); field names are the contract of the plugin. */
export interface Truncation {
  readonly content: string;
  readonly truncated: boolean;
  readonly truncated_by: "lines" | "bytes" | null;
  readonly total_lines: number;
  readonly total_bytes: number;
  readonly output_lines: number;
  readonly output_bytes: number;
  readonly last_line_partial: boolean;
  readonly first_line_exceeds_limit: boolean;
}

export interface Limits {
  readonly maxLines?: number;
  readonly maxBytes?: number;
}

export interface Truncate {
  readonly MAX_LINES: number;
  readonly MAX_BYTES: number;
  readonly MAX_LINE_CHARS: number;
  truncateHead(text: string, limits?: Limits): Truncation;
  truncateTail(text: string, limits?: Limits): Truncation;
  truncateLine(line: string, maxBytes?: number): string;
  truncateWithOverflow(
    text: string,
    options: Limits & { direction: "head" | "tail"; source?: string; id?: string },
  ): Promise<string>;
  formatSize(bytes: number): string;
}
