// Requests to a run of another process, its answers, and their format in files.

import type { Environment } from "../../../base/environment.ts";
import { stateFolder } from "../../../base/folders.ts";
import { hasTexts, isObject } from "../../../base/is_object.ts";
import type { Problem } from "../../../base/problem.ts";
import type { Cancelled } from "../../../cycle/mod.ts";

export type CancelRequest =
  /** Cancel what the first Ctrl-C would cancel: the request or, without one, the call that started first. */
  | { readonly kind: "one" }
  | { readonly kind: "all" }
  /** Cancel one call, named by its id, its number, or the beginning or end of its id. */
  | { readonly kind: "call"; readonly text: string }
  /** Cancel the call at or nearest to a line, 1-based. If that call is not running, this acts like `one`. */
  | { readonly kind: "line"; readonly line: number }
  /** Cancel nothing, and only list what is running. */
  | { readonly kind: "list" };

/** A request with the process id of its sender. */
export interface AskedBy {
  readonly request: CancelRequest;
  readonly pid: number;
}

/** A running call. */
export interface RunningCall {
  readonly id: string;
  readonly tool: string;
}

/** The answer of a run to a cancel request. */
export interface CancelAnswer {
  /** What was cancelled. */
  readonly cancelled: readonly Cancelled[];
  /** The calls that still run. */
  readonly running: readonly RunningCall[];
  /** True if a request to the provider still runs. */
  readonly requesting: boolean;
  /** Reason why nothing was cancelled; null if something was cancelled, or if the request only asked for a list. */
  readonly problem: Problem | null;
}

/** Returns the folder that contains one folder per run. */
export function runsFolder(environment: Environment): string {
  return `${stateFolder(environment)}/running`;
}

/** File name suffixes in the folder of a run. */
export const ASKED = ".ask";
export const ANSWERED = ".answer";

/** The file that describes the run of a folder; locked while the run is alive. */
export const RUN_FILE = "run";

export function encode(value: AskedBy | CancelAnswer): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Reads a request; null for any other text. */
export function decodeRequest(text: string): AskedBy | null {
  const value = decode(text);
  if (!isObject(value) || !isObject(value.request) || !Number.isSafeInteger(value.pid)) return null;
  const request = requestOf(value.request);
  return request === null ? null : { request, pid: value.pid as number };
}

function requestOf(value: Record<string, unknown>): CancelRequest | null {
  const { kind, text, line } = value;
  if (kind === "one" || kind === "all" || kind === "list") return { kind };
  if (kind === "call" && typeof text === "string") return { kind, text };
  return kind === "line" && typeof line === "number" ? { kind, line } : null;
}

/** Reads an answer; null for an incomplete one. */
export function decodeAnswer(text: string): CancelAnswer | null {
  const value = decode(text);
  return isAnswer(value) ? value : null;
}

function isAnswer(value: unknown): value is CancelAnswer {
  return isObject(value) && isListOf(value.cancelled, ["what"]) && isListOf(value.running, ["id", "tool"]) &&
    typeof value.requesting === "boolean" &&
    (value.problem === null || isListOf([value.problem], ["code", "message"]));
}

function isListOf(value: unknown, texts: readonly string[]): boolean {
  return Array.isArray(value) && value.every((each) => isObject(each) && hasTexts(each, texts));
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
