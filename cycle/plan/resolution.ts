// Calls that get an error result without running, and the text of that result.

import type { Call, Result, Turn } from "../../parser/types.ts";
import { DECLINED, DENIED, INTERRUPTED, notExecutable, REJECTED, unknownTool } from "./sentences.ts";

/** What the program can do with a tool of a given name. */
export type ToolKind =
  | "sync"
  | "async"
  | "definition-only"
  /** No tool source provides the tool, and every source has answered. */
  | "unknown"
  /**
   * A source that may provide the tool is not available now. Once the source is available, the user decides about the
   * call.
   */
  | "unasked";

/** True if the tool cannot run even if a call is approved. */
export function cannotRun(kind: ToolKind): boolean {
  return kind === "definition-only" || kind === "unknown";
}

/** Reason why a call gets an error result without running. */
export type Resolution =
  | "denied"
  | "rejected"
  | "aborted"
  | "invalid-input"
  | "put-off"
  | "questions-gone"
  | "unknown-tool"
  | "not-executable";

/** Returns the error text for a rejected, denied or aborted block; null for other blocks. */
export function resolutionText(call: Call, result: Result): { because: Resolution; text: string } | null {
  switch (result.status) {
    case "denied":
      return { because: "denied", text: DENIED };
    case "rejected":
      if (result.content !== "") return { because: "rejected", text: result.content };
      return { because: "rejected", text: result.questions === null ? REJECTED : DECLINED };
    case "aborted":
      return { because: "aborted", text: lastAbortMessage(call.turn) || INTERRUPTED };
    case "pending":
    case "approved":
    case "error":
    case null:
      return null;
  }
}

/** Returns the error text and notice code for a tool that cannot run; null if it can run. */
export function explainUnrunnable(
  name: string,
  tools: { toolKind(name: string): ToolKind; closestTool(name: string): string | null },
): { because: "unknown-tool" | "not-executable"; text: string } | null {
  switch (tools.toolKind(name)) {
    case "unknown":
      return { because: "unknown-tool", text: unknownTool(name, tools.closestTool(name)) };
    case "definition-only":
      return { because: "not-executable", text: notExecutable(name) };
    default:
      return null;
  }
}

/** Returns the message of the abort marker that ends the calling message; null if no marker ends it. */
export function abortedMessage(call: Call): string | null {
  const last = call.turn.segments.findLast((segment) =>
    segment.kind !== "text" || segment.value.trim() !== ""
  );
  return last?.kind === "aborted" ? last.message : null;
}

function lastAbortMessage(turn: Turn): string {
  const marker = turn.segments.findLast((segment) => segment.kind === "aborted");
  return marker?.kind === "aborted" ? marker.message : "";
}
