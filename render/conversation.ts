// Conversion of a document to a conversation for display: results join their calls, text replacements become diffs.

import { own } from "../base/is_object.ts";
import { formatUnifiedDiff } from "../agent/review/unified.ts";
import { unescapeTurn } from "../parser/edits/escape.ts";
import { helperOf } from "../parser/edits/result_block.ts";
import type { Call, Chat, Result, Segment, Turn } from "../parser/types.ts";
import { type JobResult, readJobResult } from "../parser/view/jobs.ts";
import { type ReplyPlaceholder, replyPlaceholder } from "../parser/view/placeholder.ts";
import type { ConversationView, Field, HelperView, MessageView, PartView, ResultView } from "./types.ts";

/** Helpers by the position of the calls that asked them. */
export type HelperViews = ReadonlyMap<number, HelperView>;

/** @param helpers the helpers to show below the calls that asked them */
export function buildConversationView(
  chat: Chat,
  title: string,
  helpers: HelperViews = new Map(),
): ConversationView {
  const { frontmatter, preamble } = chat;
  const placed = new Set<number>();
  // A result goes to the last call of its id, as in requests.
  for (const { id } of chat.calls) {
    const result = chat.result(id);
    if (result !== undefined) placed.add(result.place.from);
  }
  const waiting = replyPlaceholder(chat);
  return {
    title,
    settings: frontmatter === null
      ? null
      : { language: frontmatter.language, code: lines(frontmatter.code), line: frontmatter.start },
    preamble: preamble === null ? null : { text: lines(preamble.text), line: preamble.start },
    messages: chat.turns.map((turn) => messageOf(chat, turn, { placed, waiting, helpers }))
      .filter(({ parts }) => parts.length > 0),
  };
}

interface Surroundings {
  /** Positions of the results that are shown with their calls. */
  readonly placed: ReadonlySet<number>;
  readonly waiting: ReplyPlaceholder | null;
  readonly helpers: HelperViews;
}

function messageOf(chat: Chat, turn: Turn, around: Surroundings): MessageView {
  const { waiting } = around;
  const parts: PartView[] = [];
  let prose = "";
  let line = turn.place.start;
  const endProse = () => {
    const text = waiting === null ? prose : withoutPlaceholder(chat, prose, waiting);
    if (text.trim() !== "") parts.push({ kind: "prose", text: lines(text), line });
    prose = "";
  };
  for (const segment of unescapeTurn(chat, turn)) {
    const job = segment.kind === "text" ? readJobResult(segment) : null;
    if (job !== null) {
      endProse();
      parts.push(...jobParts(job, segment.place?.start ?? turn.place.start));
      continue;
    }
    const text = proseOf(chat, segment);
    if (text !== null) {
      if (prose === "") line = segment.place?.start ?? turn.place.start;
      prose += text;
      continue;
    }
    endProse();
    const part = partOf(chat, segment, around);
    if (part !== null) parts.push(part);
  }
  endProse();
  return { role: turn.role, line: turn.place.start, parts };
}

/** Replaces the placeholder of a reply that a batch will bring by a sentence. */
function withoutPlaceholder(
  chat: Chat,
  prose: string,
  { batch, place: { from, to } }: ReplyPlaceholder,
): string {
  return prose.replace(
    chat.text(from, to),
    () => `The reply is still to come, from the batch \`${batch}\`.\n`,
  );
}

/** Returns the result of a background job as a sentence and a result. */
function jobParts({ id, error, content }: JobResult, line: number): PartView[] {
  const status = error ? "error" : null;
  return [
    { kind: "prose", text: `Result of the background job \`${id}\`:`, line },
    { kind: "result", id, status, text: lines(content), line },
  ];
}

/**
 * Returns text with its template tags as written. A tag in the middle of a line is added without line breaks around
 * it.
 */
function proseOf(chat: Chat, segment: Segment): string | null {
  if (segment.kind === "text") return segment.value;
  if (segment.kind !== "expression" && segment.kind !== "code") return null;
  return chat.text(segment.place.from, segment.place.to);
}

function partOf(chat: Chat, segment: Segment, { placed, helpers }: Surroundings): PartView | null {
  switch (segment.kind) {
    case "thinking":
      return {
        kind: "thinking",
        text: lines(segment.content),
        redacted: segment.redacted,
        line: segment.place.start,
      };
    case "server_tool":
      return {
        kind: "server_tool",
        title: segment.what === "citations" ? "sources" : "run by the provider",
        text: lines(segment.content).replace(/^Sources:\n/, ""),
        line: segment.place.start,
      };
    case "aborted":
      return { kind: "aborted", text: segment.message, line: segment.place.start };
    case "tool_use":
      return callOf(chat, segment, helpers.get(segment.place.from));
    case "tool_result":
      return placed.has(segment.place.from) ? null : resultOf(segment);
    default:
      return null;
  }
}

function callOf(chat: Chat, call: Call, helper: HelperView | undefined): PartView {
  const result = chat.call(call.id)?.place.from === call.place.from ? chat.result(call.id) : undefined;
  const { label } = call.input;
  return {
    kind: "call",
    id: call.id,
    tool: call.name,
    label: typeof label === "string" ? lines(label).trim() : "",
    line: call.place.start,
    fields: call.flaw === null
      ? fieldsOf(call.input)
      : [{ name: "input", kind: "text", text: lines(call.inputText) }],
    result: result === undefined ? null : resultOf(result),
    ...helper === undefined ? {} : { helper },
  };
}

function resultOf(result: Result): ResultView {
  const { id, status, content, questions, place } = result;
  const waitsIn = status === "pending" ? helperOf(result) : null;
  return {
    kind: "result",
    id,
    status,
    ...waitsIn === null ? {} : { waitsIn },
    text: lines(questions ?? content),
    line: place.start,
  };
}

/** Pairs of input members with which tools describe a replacement. */
const PASSAGES: readonly (readonly [before: string, after: string])[] = [
  ["oldText", "newText"],
  ["old_text", "new_text"],
  ["old_string", "new_string"],
  ["old_str", "new_str"],
];

/** Lists the members of an input in the model's order, with a replacement pair as one diff. */
function fieldsOf(input: Readonly<Record<string, unknown>>): Field[] {
  const passage = PASSAGES.find(([before, after]) => isText(input[before]) && isText(input[after]));
  return Object.entries(input).flatMap(([name, value]): Field[] => {
    if (name === "label" && isText(value)) return [];
    if (value === null || name === passage?.[1]) return [];
    if (passage !== undefined && name === passage[0]) {
      return [{ name: "diff", kind: "diff", text: diffOf(String(value), String(input[passage[1]])) }];
    }
    const edits = name === "edits" && Array.isArray(value) ? editsOf(value) : null;
    if (edits !== null) return edits;
    if (!isText(value)) return [{ name, kind: "text", text: JSON.stringify(value, null, 2) }];
    return [{ name, kind: own(KINDS, name) ?? "text", text: lines(value) }];
  });
}

const KINDS: Readonly<Record<string, Field["kind"]>> = {
  command: "command",
  path: "path",
  file_path: "path",
};

/** Converts a list of replacements in one file to diffs. Null if the values are not replacements. */
function editsOf(values: readonly unknown[]): Field[] | null {
  const fields = values.map((value) => {
    const found = typeof value === "object" && value !== null ? fieldsOf({ ...value }) : [];
    return found.length === 1 && found[0]!.kind === "diff" ? found[0]! : null;
  });
  return fields.includes(null) || fields.length === 0 ? null : fields as Field[];
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Returns the changed lines of a replacement, without the header and line numbers of a unified diff. */
function diffOf(before: string, after: string): string {
  const split = (text: string) => text === "" ? [] : lines(text).replace(/\n?$/, "\n").split(/(?<=\n)/);
  const diff = formatUnifiedDiff("passage", split(before), split(after));
  if (diff === null) return "";
  const [, , , ...changes] = diff.replace(/\n$/, "").split("\n");
  return changes.map((line) => line.startsWith("@@") ? "…" : line).join("\n");
}

function lines(text: string): string {
  return text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
}
