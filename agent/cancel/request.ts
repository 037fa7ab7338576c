// What is asked of a run of another process, what it answers, and how both stand in files.

import { isObject } from "../../base/is_object.ts";
import type { Problem } from "../../base/problem.ts";
import type { Cancelled } from "../../cycle/mod.ts";

/** What is asked of a run. */
export type CancelRequest =
  /** What one Ctrl-C would end first: the request, else the call that was started first. */
  | { readonly kind: "one" }
  /** Everything. */
  | { readonly kind: "all" }
  /** The call of that name: its id, its number, the beginning or the end of its id. */
  | { readonly kind: "call"; readonly text: string }
  /** The call at or nearest to a line, 1-based; where that one does not run, as `one`. */
  | { readonly kind: "line"; readonly line: number }
  /** Nothing is cancelled, only told what runs. */
  | { readonly kind: "list" };

/** A request with the number of the process that asks. */
export interface AskedBy {
  readonly request: CancelRequest;
  readonly pid: number;
}

/** A call that runs. */
export interface RunningCall {
  readonly id: string;
  readonly tool: string;
}

/** What a run answers. */
export interface CancelAnswer {
  /** What was cancelled. */
  readonly cancelled: readonly Cancelled[];
  /** The calls that still run. */
  readonly running: readonly RunningCall[];
  /** Whether a request still runs. */
  readonly requesting: boolean;
  /** Why nothing was cancelled; null where something was, or where nothing was to be. */
  readonly problem: Problem | null;
}

/** Endings of the names of the files in the folder of a run. */
export const ASKED = ".ask";
export const ANSWERED = ".answer";

/** The file that says which run a folder belongs to, locked while it goes on. */
export const RUN_FILE = "run";

export function encode(value: AskedBy | CancelAnswer): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Reads what somebody asked; null for what is none. */
export function decodeRequest(text: string): AskedBy | null {
  const value = decode(text);
  if (!isObject(value) || !isObject(value.request) || typeof value.pid !== "number") return null;
  const request = requestOf(value.request);
  return request === null ? null : { request, pid: value.pid };
}

function requestOf(value: Record<string, unknown>): CancelRequest | null {
  const { kind, text, line } = value;
  if (kind === "one" || kind === "all" || kind === "list") return { kind };
  if (kind === "call" && typeof text === "string") return { kind, text };
  return kind === "line" && typeof line === "number" ? { kind, line } : null;
}

/** Reads an answer; null for one that is not whole. */
export function decodeAnswer(text: string): CancelAnswer | null {
  const value = decode(text);
  return isAnswer(value) ? value : null;
}

function isAnswer(value: unknown): value is CancelAnswer {
  return isObject(value) && Array.isArray(value.cancelled) && Array.isArray(value.running) &&
    typeof value.requesting === "boolean" && "problem" in value;
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
