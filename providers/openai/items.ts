// Conversion of the conversation to input items of the Responses API.

import { isBlank, trimBlank } from "../../prompt/blank.ts";
import { itemTexts } from "../../base/text/json_text.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import { foreignThinking, tagName } from "../request/foreign.ts";
import type { ThinkingPart } from "../types.ts";
import { type JsonMembers, type JsonValue, Raw } from "../request/json.ts";
import { reusedIdWarnings } from "../request/pairing.ts";
import { requestName } from "../request/file_name.ts";
import { answerText, errorText, MISSING_RESULT } from "../request/result_text.ts";
import { arrangeTurns, type CallAnswer, type RequestTurn, sortForReplay } from "../request/turns.ts";
import { WireIds, wireName } from "../request/wire.ts";
import { readSignature, type ReasoningItem } from "./reasoning.ts";

export function phaseNote(text: string): string {
  return `phase of ${trimBlank(text)}`;
}

/** One item; reasoning is sent back as the JSON that was received. */
export type Item = JsonMembers | Raw;

export interface ItemOptions {
  /** Name of the provider. Only reasoning of this provider is sent back as reasoning. */
  readonly provider: string;
  readonly foreign: "preserve" | "drop";
  /** True if the model's messages state their phase. */
  readonly phase: boolean;
  /** Reasoning of earlier turns that is left out. @default none */
  readonly leftOut?: ReadonlySet<ThinkingPart>;
  /** True if no reasoning item is sent with its id. */
  readonly withoutIds?: boolean;
  recall(about: string): string | null;
}

/** The items of a request. */
export interface InputItems {
  /** The items in order. */
  readonly items: readonly Item[];
  /** Warnings about what was left out. */
  readonly warnings: readonly string[];
  /** The reasoning among the items, by the id of its item. */
  readonly thinking: ReadonlyMap<string, ThinkingPart>;
}

/** Converts a conversation to items. */
export function inputItems(prompt: Prompt, options: ItemOptions): InputItems {
  const system = prompt.system ?? "";
  const items: Item[] = isBlank(system) ? [] : [{ role: "developer", content: system }];
  const warnings: string[] = [...reusedIdWarnings(prompt)];
  const ids = new Set<string>();
  const thinking = new Map<string, ThinkingPart>();
  let replies = 0;
  for (const turn of arrangeTurns(prompt, new WireIds())) {
    if (turn.role === "user") items.push(...turn.answers.map(outputItem), ...userItem(turn.parts));
    else {
      const reply = new ReplyItems(turn, ++replies, options, ids);
      items.push(...reply.items);
      warnings.push(...reply.warnings);
      for (const [item, { part, id }] of reply.reasoning) {
        // An item without an id gets a name that no id has, so that it is among the sent ones.
        if (reply.items.includes(item)) thinking.set(id ?? `input[${items.indexOf(item)}]`, part);
      }
    }
  }
  return { items, warnings, thinking };
}

function userItem(parts: readonly Part[]): readonly Item[] {
  const content = parts.flatMap(contentPart);
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** Converts a part for messages and results. Blank text is dropped. */
function contentPart(part: Part): readonly JsonMembers[] {
  switch (part.kind) {
    case "text":
    case "text_file":
      return isBlank(part.text) ? [] : [{ type: "input_text", text: part.text }];
    case "image":
      return [{ type: "input_image", image_url: dataUrl(part), detail: "auto" }];
    case "pdf": {
      // The filename is sent without the local folder.
      const filename = part.filename.slice(part.filename.lastIndexOf("/") + 1) || "document.pdf";
      return [{ type: "input_file", filename, file_data: dataUrl(part) }];
    }
    case "unsupported_file":
      return [{ type: "input_text", text: `@${requestName(part)}` }];
    default:
      return [];
  }
}

function dataUrl({ mimeType, data }: Extract<Part, { kind: "image" | "pdf" }>): string {
  return `data:${mimeType};base64,${data}`;
}

function outputItem(answer: CallAnswer): Item {
  return { type: "function_call_output", call_id: answer.id, output: outputOf(answer) };
}

/** Returns a text, or an array of parts if there is a file. The API has no error flag, so the text states the error. */
function outputOf(answer: CallAnswer): JsonValue {
  const { result } = answer;
  if (result === null) return errorText(MISSING_RESULT);
  const media = result.parts.some(({ kind }) => kind === "image" || kind === "pdf");
  if (!media) return answerText(answer, binaryFile);
  const content = result.parts.flatMap((part) =>
    part.kind === "unsupported_file"
      ? [{ type: "input_text", text: binaryFile(requestName(part)) }]
      : contentPart(part)
  );
  return result.isError ? [{ type: "input_text", text: "Error:" }, ...content] : content;
}

function binaryFile(filename: string): string {
  return `[binary file: ${filename}]`;
}

class ReplyItems {
  readonly items: Item[] = [];
  readonly warnings: string[] = [];
  /** The reasoning items with the thinking they were made from, and their ids if they are sent with one. */
  readonly reasoning = new Map<Item, { readonly part: ThinkingPart; readonly id: string | null }>();
  readonly #options: ItemOptions;
  /** Ids of reasoning items sent so far. */
  readonly #ids: Set<string>;
  /** Number of the model's turn, from 1; it is part of the ids of the turn's messages. */
  readonly #number: number;
  /** Thinking of other providers, to put before the next text or call. */
  #lead: string;
  /** Text that was not added as an item yet. */
  #text = "";
  #texts = 0;
  #calls: number;

  constructor(
    turn: Extract<RequestTurn, { role: "assistant" }>,
    number: number,
    options: ItemOptions,
    ids: Set<string>,
  ) {
    this.#options = options;
    this.#ids = ids;
    this.#number = number;
    this.#lead = foreignThinking(turn.parts, this.#isNative, options.foreign) ?? "";
    this.#calls = turn.ids.size;
    for (const part of sortForReplay(turn.parts, this.#isNative)) {
      if (part.kind === "text") this.#add(part.text);
      else if (part.kind === "thinking") this.#reasoning(part);
      else if (part.kind === "server_tool") this.#serverTool(part);
      else if (part.kind === "tool_use") this.#call(part, turn.ids.get(part) ?? part.id);
    }
    this.#add("");
    this.#flush();
    this.#dropLastReasoning();
  }

  readonly #isNative = (part: ThinkingPart): boolean =>
    part.signature?.provider === tagName(this.#options.provider);

  #add(text: string): void {
    this.#text += this.#lead + text;
    this.#lead = "";
  }

  #flush(): void {
    const text = trimBlank(this.#text);
    this.#text = "";
    if (text === "") return;
    this.items.push({
      type: "message",
      role: "assistant",
      id: `msg_${this.#number}_${++this.#texts}`,
      status: "completed",
      phase: this.#options.phase ? this.#phaseOf(text) : undefined,
      content: [{ type: "output_text", text, annotations: [] }],
    });
  }

  /**
   * Returns the phase that was noted for the text. An edited text, or a text of another model, has no note; its
   * position in the turn decides its phase.
   */
  #phaseOf(text: string): string {
    return this.#options.recall(phaseNote(text)) ?? (this.#calls > 0 ? "commentary" : "final_answer");
  }

  #call(part: Extract<Part, { kind: "tool_use" }>, id: string): void {
    this.#add("");
    this.#flush();
    this.#calls--;
    this.items.push({
      type: "function_call",
      call_id: id,
      name: wireName(part.name),
      arguments: new Raw(part.inputText).text,
      status: "completed",
    });
  }

  /** Adds the items of a tool that the API ran, as they were received. Citations do not go back. */
  #serverTool({ what, json = "" }: Extract<Part, { kind: "server_tool" }>): void {
    if (what !== "blocks") return;
    this.#add("");
    this.#flush();
    this.items.push(...itemTexts(json).map((text) => new Raw(text)));
  }

  #reasoning(part: ThinkingPart): void {
    if (part.signature === undefined || !this.#isNative(part)) return;
    if (this.#options.leftOut?.has(part) === true) return;
    const item = readSignature(part.signature.value);
    // An item without encrypted content refers to data on the server, and the server was asked not to keep such data.
    if (item === null || !item.isReplayable) return;
    // The person edited the summary, but the item still contains the old one, so the item is not sent.
    if (trimBlank(part.content) !== trimBlank(item.summary)) {
      this.warnings.push(EDITED);
      return;
    }
    this.#flush();
    const isRepeated = this.#isRepeated(item);
    const sent = new Raw(isRepeated ? withoutId(item.json) : item.json);
    this.items.push(sent);
    this.reasoning.set(sent, { part, id: isRepeated ? null : item.id });
  }

  /** True if an item must go without its id, because the API refuses an id that occurs twice, as in a copied turn. */
  #isRepeated({ id }: ReasoningItem): boolean {
    if (this.#options.withoutIds === true) return true;
    return id !== null && this.#ids.size === this.#ids.add(id).size;
  }

  /**
   * Drops reasoning at the end of the items. The text or call after it was deleted from the document, and the API
   * refuses reasoning without the item that followed it.
   */
  #dropLastReasoning(): void {
    while (this.items.length > 0 && this.reasoning.has(this.items.at(-1)!)) this.items.pop();
  }
}

function withoutId(json: string): string {
  const { id: _id, ...item } = JSON.parse(json) as Record<string, unknown>;
  return JSON.stringify(item);
}

const EDITED =
  "The text of a signed thinking block was edited; the block is left out, since the model would get the old text.";
