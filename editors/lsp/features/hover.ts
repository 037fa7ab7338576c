// Hover text for a call: the whole call, who decides about it and why, and what it would change.

import type { Hover } from "vscode-languageserver-types";
import type { ShownCall } from "../../../agent/types.ts";
import { decidedBy } from "../../../agent/review/decided_by.ts";
import { visible } from "../../../base/visible.ts";
import { fenceFor } from "../../../parser/edits/result_block.ts";
import type { Call } from "../../../parser/types.ts";
import { codeSpan, plainWords } from "../../rpc/markdown.ts";
import type { OpenDocument } from "../document.ts";
import { type Counted, linesRange, toOffset } from "../positions.ts";
import { idAt } from "./references.ts";

type Position = Parameters<typeof toOffset>[1];

/** Maximum number of characters of a call in hover text. Longer calls are shown only in the document. */
const MOST_CHARACTERS = 20_000;

/** Returns the hover text for the call or result at a position. */
export async function hover(document: OpenDocument, position: Position): Promise<Hover | null> {
  const { counted } = document;
  const id = idAt(counted, position);
  const call = id === null ? undefined : counted.chat.call(id);
  if (id === null || call === undefined) return null;
  const session = await document.openReadOnly();
  const open = session.ok ? (await session.value.calls()).find((each) => each.id === id) : undefined;
  const shown = session.ok && open !== undefined ? await session.value.show(id) : null;
  const parts = [
    `**${codeSpan(call.name)}** ${codeSpan(id)}`,
    ...(shown?.ok ? shownParts(shown.value) : inputParts(call)),
    // While the frontmatter is invalid, no call is decided.
    ...(open === undefined || !session.ok || session.value.blockers.length > 0 ? [] : [fate(open.decided)]),
    ...(open !== undefined && open.previewIsCut ? ["The preview does not show the whole call."] : []),
  ];
  return {
    contents: { kind: "markdown", value: parts.join("\n\n") },
    range: placeOf(counted, call, position),
  };
}

/** Returns a waiting call, with what a person should know before deciding. */
function shownParts({ parts, warnings }: ShownCall): string[] {
  const language = { command: "sh", diff: "diff", path: "", member: "", label: "" } as const;
  return [
    ...parts.map(({ kind, name, text }) =>
      `${kind === "diff" ? "change" : nameOf(name)}:\n\n${fenced(language[kind], text)}`
    ),
    ...warnings.map(plainWords),
  ];
}

/** Returns the input of a call, each text with its own lines. */
function inputParts({ input, inputText, flaw }: Call): string[] {
  if (flaw !== null) return [`The call cannot run: ${plainWords(flaw)}.`, fenced("json", inputText)];
  return Object.entries(input).map(([name, value]) => {
    if (typeof value !== "string") return `${nameOf(name)}: ${codeSpan(JSON.stringify(value))}`;
    const language = name === "command" ? "sh" : "";
    return `${nameOf(name)}:\n\n${fenced(language, value)}`;
  });
}

/** Returns the name of a member, escaped, because the model chose it. */
function nameOf(name: string): string {
  return /^\w+$/.test(name) ? name : codeSpan(name);
}

function fate({ decision, source, detail, rule }: {
  readonly decision: string;
  readonly source: string;
  readonly detail?: string;
  readonly rule?: unknown;
}): string {
  const who = source === "default" ? "no rule matches" : decidedBy(source, rule !== undefined);
  const words = decision === "approve"
    ? "Would be approved"
    : decision === "deny"
    ? "Would be denied"
    : "Waits for you";
  return `${words} (${plainWords(who)})${detail === undefined ? "" : `: ${plainWords(detail)}`}`;
}

function fenced(language: string, text: string): string {
  const shown = visible(text.replaceAll("\r\n", "\n"), { lines: true });
  const cut = shown.length > MOST_CHARACTERS ? `${shown.slice(0, MOST_CHARACTERS)}\n…` : shown;
  const fence = fenceFor(cut);
  return `${fence}${language}\n${cut.replace(/\n$/, "")}\n${fence}`;
}

function placeOf(counted: Counted, call: Call, position: Position) {
  const result = counted.chat.result(call.id);
  const offset = toOffset(counted, position);
  const place = result !== undefined && offset >= result.place.from ? result.place : call.place;
  return linesRange(counted, place.start, place.end);
}
