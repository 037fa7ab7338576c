// Shows the findings of `flemma check` in the editor. A finding for each waiting call says what the call would do.

import { problemLine } from "../../../base/problem.ts";
import { visible } from "../../../base/visible.ts";
import type { Diagnostic as Shown } from "vscode-languageserver-types";
import type { OpenCall, WaitingHelper } from "../../../agent/types.ts";
import type { Chat, Diagnostic } from "../../../parser/types.ts";
import type { OpenDocument } from "../document.ts";
import { type Counted, linesRange, toRange } from "../positions.ts";

/** Severities, as the protocol numbers them. */
const SEVERITY = { error: 1, warning: 2, info: 3 } as const;

/** The protocol's tag for unnecessary text. */
const UNNECESSARY = 1;

/** Findings about text that is never sent. */
const IGNORED: ReadonlySet<string> = new Set(["text_before_first_message", "role_unknown"]);

export interface Findings {
  readonly version: number;
  readonly diagnostics: readonly Shown[];
}

/**
 * Finds everything that is wrong with the editor's text. While the editor is asked to apply an edit, the findings are
 * those of the text without the edit; the editor's next change brings new ones.
 */
export async function findingsOf(document: OpenDocument): Promise<Findings> {
  const { store, uri } = document;
  while (true) {
    const { version, buffer } = store;
    // Template state from one evaluation must not affect the next.
    if (hasTags(buffer)) document.forget();
    const session = await document.openReadOnly();
    const found = session.ok ? (await session.value.diagnose()).diagnostics : [
      problemFinding(session.problem.code, session.problem.message, session.problem.next),
      ...buffer.diagnostics,
    ];
    const calls = session.ok ? await session.value.calls() : [];
    if (store.buffer !== buffer) continue;
    const waiting = new Map(calls.filter(isWaiting).map((call) => [call.id, call]));
    const counted = document.counted;
    return { version, diagnostics: found.map((each) => shown(counted, each, waiting, uri)) };
  }
}

/** True if the person decides about a call next. */
export function isWaiting(
  { status, hasText, doubt }: Pick<OpenCall, "status" | "hasText" | "doubt">,
): boolean {
  return (status === "pending" && !hasText) || doubt !== null;
}

function problemFinding(code: string, message: string, next?: string): Diagnostic {
  return {
    code,
    type: "config",
    severity: "error",
    message: problemLine({ message, next }),
  };
}

/** A finding. If it is about the whole frontmatter, it may also have the exact line. */
type Finding = Diagnostic & { readonly line?: number };

function shown(
  counted: Counted,
  finding: Finding,
  waiting: ReadonlyMap<string, OpenCall>,
  uri: string,
): Shown {
  const { code, severity, message, id } = finding;
  const { chat } = counted;
  const call = code === "tool_use_unresolved" && id !== undefined ? waiting.get(id) : undefined;
  const related = [
    ...id === undefined ? [] : otherHalf(counted, id, finding, uri),
    ...call === undefined || call.helper === null ? [] : placesOf(call.helper),
  ];
  return {
    range: call === undefined ? rangeOf(counted, finding) : linesRange(counted, call.line, call.line),
    severity: call === undefined ? SEVERITY[severity] : SEVERITY.info,
    code,
    source: "flemma",
    message: visible(call === undefined ? message : waitsText(call)),
    ...(IGNORED.has(code) ? { tags: [UNNECESSARY] } : {}),
    ...(related.length === 0 || chat.byteLength === 0 ? {} : { relatedInformation: related }),
  };
}

/** Returns the range of a finding: its columns, else its first line. */
function rangeOf(counted: Counted, finding: Finding) {
  const { chat } = counted;
  const { start, end = start, startCol, endCol } = finding;
  if (startCol === undefined || start === undefined || end === undefined) {
    const line = Math.min(finding.line ?? start ?? 1, Math.max(1, chat.lineCount));
    const last = IGNORED.has(finding.code) ? end ?? line : line;
    return linesRange(counted, line, last);
  }
  const from = chat.lineStart(start) + startCol - 1;
  const to = endCol === undefined ? chat.lineEnd(end) : chat.lineStart(end) + endCol;
  return toRange(counted, { from, to: Math.max(from, to) });
}

/**
 * Returns the related place. For a finding about a call, this is the call's result; for a finding about a result, it is
 * the call.
 */
function otherHalf(counted: Counted, id: string, { start }: Finding, uri: string) {
  const { chat } = counted;
  const [call, result] = [chat.call(id), chat.result(id)];
  if (call === undefined || result === undefined) return [];
  const atResult = start !== undefined && start >= result.place.start;
  const line = (atResult ? call.place : result.header).start;
  const message = visible(atResult ? `the call ${id} of ${call.name}` : `the block of ${id}`);
  return [{ location: { uri, range: linesRange(counted, line, line) }, message }];
}

/** Returns the calls that wait in the document of a helper, and in those of its helpers. */
function callsBelow({ calls }: WaitingHelper): readonly OpenCall[] {
  return calls.flatMap((call) => call.helper === null ? [call] : callsBelow(call.helper));
}

/** Returns the places of the calls that wait in the document of a helper, for editors to jump there. */
function placesOf({ path, calls }: WaitingHelper): ReturnType<typeof otherHalf> {
  const uri = new URL(`file://${path.split("/").map(encodeURIComponent).join("/")}`).href;
  return calls.flatMap(({ line, preview, helper }) => {
    const at = { line: line - 1, character: 0 };
    return [
      { location: { uri, range: { start: at, end: at } }, message: visible(preview) },
      ...helper === null ? [] : placesOf(helper),
    ];
  });
}

/** True if the text has a template tag that is evaluated. */
function hasTags(chat: Chat): boolean {
  return chat.turns.some(({ role, segments }) =>
    role !== "Assistant" &&
    segments.some((segment) =>
      segment.kind === "expression" || segment.kind === "code" ||
      (segment.kind === "tool_result" && segment.segments.some(({ kind }) => kind !== "text"))
    )
  );
}

function waitsText({ preview, doubt, helper, questions }: OpenCall): string {
  if (helper !== null) {
    const calls = callsBelow(helper).map(({ preview }) => preview);
    return `waits in ${helper.path}: ${calls.length === 0 ? preview : calls.join("; ")}`;
  }
  if (questions !== null) {
    return `waits for your answers: ${preview}${questions.problem === null ? "" : ` (${questions.problem})`}`;
  }
  return `waits for you: ${preview}${doubt === null ? "" : ` (${doubt})`}`;
}
