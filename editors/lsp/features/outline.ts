// The structure of a document: folding ranges, symbols and selection ranges.

import type {
  DocumentSymbol,
  FoldingRange,
  SelectionRange,
  SymbolInformation,
} from "vscode-languageserver-types";
import { visible } from "../../../base/visible.ts";
import { isLifecycle } from "../../../parser/text/status_words.ts";
import { previewResult } from "../../../tools/preview.ts";
import type { Chat, Place, Segment, Turn } from "../../../parser/types.ts";
import type { Abilities } from "../client.ts";
import { type Counted, linesRange, toOffset, toRange } from "../positions.ts";

/** Kinds of symbols, as the protocol numbers them. */
const KIND = { message: 3, call: 12, result: 13, thinking: 15, settings: 19 } as const;

/** Maximum length of a message's name in characters. */
const NAME_LENGTH = 60;

/** Returns the folding ranges: frontmatter, messages, thinking, server tools, calls and results. */
export function foldingRanges(
  chat: Chat,
  { foldsWithText }: Pick<Abilities, "foldsWithText">,
): FoldingRange[] {
  const ranges: FoldingRange[] = [];
  const add = ({ start, end }: Pick<Place, "start" | "end">, kind: string | null, text: string) => {
    if (end <= start) return;
    ranges.push({
      startLine: start - 1,
      endLine: end - 1,
      ...(kind === null ? {} : { kind }),
      ...(foldsWithText ? { collapsedText: text } : {}),
    });
  };
  if (chat.frontmatter !== null) add(chat.frontmatter, "imports", "settings");
  for (const turn of chat.turns) {
    add({ start: turn.place.start, end: lastLineWithText(chat, turn) }, null, turnName(turn));
    for (const segment of turn.segments) {
      if (segment.kind === "thinking") add(segment.place, "region", "thinking");
      if (segment.kind === "server_tool") add(segment.place, "region", serverToolName(segment));
      if (segment.kind === "tool_use") add(segment.place, "region", visible(`call: ${segment.name}`));
      if (segment.kind === "tool_result") add(segment.place, "region", resultName(chat, segment));
    }
  }
  return ranges;
}

/** Returns messages with their calls as children, and each call with its result. */
export function symbolTree(counted: Counted): DocumentSymbol[] {
  const { chat } = counted;
  const block = chat.frontmatter;
  const settings = block === null ? [] : [symbol(counted, block, "settings", block.language, KIND.settings)];
  const answers = new Map(chat.results.map((result) => [result.id, result]));
  const inCall = new Set(chat.calls.map(({ id }) => id));
  return [
    ...settings,
    ...chat.turns.map((turn) => {
      const children = turn.segments.flatMap((segment) =>
        blockSymbols(counted, segment, { answers, inCall })
      );
      return { ...symbol(counted, turn.place, turnName(turn), turn.role, KIND.message), children };
    }),
  ];
}

/** Returns the same symbols as a flat list. */
export function symbolList(counted: Counted, uri: string): SymbolInformation[] {
  const flat = (symbols: readonly DocumentSymbol[], container?: string): SymbolInformation[] =>
    symbols.flatMap(({ name, kind, range, children = [] }) => [
      {
        name,
        kind,
        location: { uri, range },
        ...(container === undefined ? {} : { containerName: container }),
      },
      ...flat(children, name),
    ]);
  return flat(symbolTree(counted));
}

/** Returns the enclosing ranges at each position: the line, the block, the message, the document. */
export function selectionRanges(
  counted: Counted,
  positions: readonly { readonly line: number; readonly character: number }[],
): SelectionRange[] {
  const { chat } = counted;
  return positions.map((position) => {
    const offset = toOffset(counted, position);
    const line = chat.lineAt(offset);
    const turn = chat.turnAt(offset);
    const inside = ({ from, to }: Pick<Place, "from" | "to">) => from <= offset && offset <= to;
    const block = turn?.segments.find((segment) =>
      segment.kind !== "text" && segment.place !== undefined && inside(segment.place)
    );
    const places: Pick<Place, "from" | "to">[] = [
      { from: 0, to: chat.byteLength },
      ...(chat.frontmatter !== null && inside(chat.frontmatter) ? [chat.frontmatter] : []),
      ...(turn === undefined ? [] : [turn.place]),
      ...(block?.place === undefined ? [] : [block.place]),
      { from: chat.lineStart(line), to: chat.lineEnd(line) },
    ];
    let selection: SelectionRange | undefined;
    for (const place of places) {
      selection = {
        range: toRange(counted, place),
        ...(selection === undefined ? {} : { parent: selection }),
      };
    }
    return selection!;
  });
}

/** Returns the first line of a server tool's rendering. */
function serverToolName({ content }: Extract<Segment, { kind: "server_tool" }>): string {
  return visible(content.split("\n", 1)[0]!.trim().slice(0, NAME_LENGTH)) || "provider's tool";
}

/** Returns the name of a message: its role and its first words. */
function turnName({ role, segments }: Turn): string {
  const text = segments.find((segment) => segment.kind === "text" && segment.value.trim() !== "");
  const words = text?.kind === "text" ? text.value.trim().split("\n", 1)[0]! : "";
  return visible(`@${role}: ${words.slice(0, NAME_LENGTH)}`).trimEnd();
}

interface Pairs {
  readonly answers: ReadonlyMap<string, Extract<Segment, { kind: "tool_result" }>>;
  /** Ids of calls in the document. */
  readonly inCall: ReadonlySet<string>;
}

function blockSymbols(counted: Counted, segment: Segment, { answers, inCall }: Pairs): DocumentSymbol[] {
  switch (segment.kind) {
    case "thinking":
      return [symbol(counted, segment.place, "thinking", "", KIND.thinking)];
    case "server_tool":
      return [symbol(counted, segment.place, serverToolName(segment), "", KIND.result)];
    case "tool_use": {
      const result = answers.get(segment.id);
      const detail = result === undefined ? "open" : result.status ?? "done";
      const name = visible(`${segment.name} (${segment.id})`);
      return [symbol(counted, segment.place, name, detail, KIND.call)];
    }
    case "tool_result": {
      const name = visible(
        inCall.has(segment.id) ? `result (${segment.id})` : `result without a call (${segment.id})`,
      );
      return [symbol(counted, segment.place, name, segment.status ?? "done", KIND.result)];
    }
    default:
      return [];
  }
}

function symbol(
  counted: Counted,
  place: Place,
  name: string,
  detail: string,
  kind: DocumentSymbol["kind"],
): DocumentSymbol {
  const range = toRange(counted, place);
  return { name, detail, kind, range, selectionRange: linesRange(counted, place.start, place.start) };
}

function resultName(chat: Chat, result: Extract<Segment, { kind: "tool_result" }>): string {
  const name = chat.call(result.id)?.name ?? result.id;
  if (isLifecycle(result.status)) return visible(`${name}: ${result.status}`);
  return previewResult(name, result.content, { isError: result.status === "error" });
}

/** Returns the last line with text, because blank lines between messages stay visible when a message is folded. */
function lastLineWithText(chat: Chat, { place }: Turn): number {
  let line = place.end;
  while (line > place.start && chat.lineText(line).trim() === "") line--;
  return line;
}
