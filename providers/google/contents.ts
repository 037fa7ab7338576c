// Conversion of the conversation to contents of Gemini's generateContent.

import { isBlank, trimBlank } from "../../prompt/blank.ts";
import { itemTexts } from "../../base/text/json_text.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import { foreignThinking } from "../request/foreign.ts";
import type { ThinkingPart } from "../types.ts";
import { type JsonMembers, Raw } from "../request/json.ts";
import type { CallPart } from "../request/pairing.ts";
import { requestName } from "../request/file_name.ts";
import { MISSING_RESULT, plainResult } from "../request/result_text.ts";
import { arrangeTurns, type CallAnswer, type RequestTurn } from "../request/turns.ts";
import { wireName } from "../request/wire.ts";
import { callNote, signatureNote } from "./notes.ts";
import { signaturesOf, STAND_IN } from "./signatures.ts";

export interface ContentOptions {
  /** API flavor (Vertex AI or Gemini): which signatures it issued, which fields it accepts. */
  readonly provider: "vertex" | "gemini";
  readonly foreign: "preserve" | "drop";
  /**
   * Which signatures to send. `own`: the existing ones. `demanded`: the existing ones; and if the first call of a step
   * of the current turn has no signature, a stand-in for it. `stand-ins`: no existing ones, but a stand-in for the
   * first call of each step.
   */
  readonly signatures: "own" | "demanded" | "stand-ins";
  readonly model: string;
  /** Thinking whose signature is left out. @default none */
  readonly leftOut?: ReadonlySet<ThinkingPart>;
  recall(about: string): string | null;
}

export function wireContents(prompt: Prompt, options: ContentOptions): readonly JsonMembers[] {
  const turns = arrangeTurns(prompt, { next: (id) => id });
  const present = turns.findLastIndex((turn) => turn.role === "user" && turn.parts.some(says)) + 1;
  return turns.flatMap((turn, index): JsonMembers[] => {
    const parts = turn.role === "assistant"
      ? modelParts(turn, options, index >= present)
      : [...turn.answers.flatMap(answerParts(options)), ...turn.parts.flatMap(userParts(options))];
    return parts.length === 0 ? [] : [{ role: turn.role === "assistant" ? "model" : "user", parts }];
  });
}

function says(part: Part): boolean {
  return part.kind !== "text" || !isBlank(part.text);
}

/** Converts user parts and omits blank texts, because the API refuses empty ones. */
const userParts = (options: ContentOptions) => (part: Part): readonly JsonMembers[] => {
  switch (part.kind) {
    case "text":
    case "text_file":
      return isBlank(part.text) ? [] : [{ text: part.text }];
    case "image":
    case "pdf":
      return [inlineData(part, options)];
    case "unsupported_file":
      return [{ text: `@${requestName(part)}` }];
    default:
      return [];
  }
};

/** Only Vertex AI accepts a name for inline data; the Gemini API refuses it. */
function inlineData(
  { mimeType, data, filename }: Extract<Part, { kind: "image" | "pdf" }>,
  { provider }: ContentOptions,
): JsonMembers {
  const base = filename.slice(filename.lastIndexOf("/") + 1) || "file";
  return { inlineData: { mimeType, data, displayName: provider === "vertex" ? base : undefined } };
}

/** Returns a result followed by its files. */
const answerParts = (options: ContentOptions) => ({ call, result }: CallAnswer): readonly JsonMembers[] => {
  const name = wireName(call.name);
  const id = ownId(call, options);
  if (result === null) {
    return [{ functionResponse: { id, name, response: { error: MISSING_RESULT, success: false } } }];
  }
  const media = result.parts.flatMap((part) =>
    part.kind === "image" || part.kind === "pdf"
      ? [{ inlineData: { mimeType: part.mimeType, data: part.data } }]
      : []
  );
  const text = plainResult(
    result.parts.filter(({ kind }) => kind !== "image" && kind !== "pdf"),
    (filename) => `[binary file: ${filename}]`,
  );
  const response = result.isError ? { error: text } : { output: text };
  return [
    { functionResponse: { id, name, response } },
    ...media,
  ];
};

/** Returns a call's id if this API issued it. Other calls and their responses are matched by order. */
function ownId(call: CallPart, { provider, recall }: ContentOptions): string | undefined {
  return recall(callNote(call.id)) === provider ? call.id : undefined;
}

function modelParts(
  { parts }: Extract<RequestTurn, { role: "assistant" }>,
  options: ContentOptions,
  isPresent: boolean,
): readonly (JsonMembers | Raw)[] {
  const { provider, foreign, signatures: which, recall, model, leftOut } = options;
  const isNative = (part: ThinkingPart) => part.signature?.provider === provider;
  /**
   * True if the model can read the thinking. The API refuses signatures of another model; for one of unknown origin,
   * the API decides.
   */
  const isReadable = (part: ThinkingPart) =>
    isNative(part) && leftOut?.has(part) !== true &&
    (recall(signatureNote(part.signature?.value ?? "")) ?? model) === model;
  const signatures = which === "stand-ins" ? new Map<Part, string>() : signaturesOf(parts, isReadable);
  const demanded = which === "stand-ins" || (which === "demanded" && isPresent);
  const adopted = foreignThinking(parts, isNative, foreign);
  const wire: (JsonMembers | Raw)[] = adopted === null ? [] : [{ text: adopted }];
  let calls = 0;
  for (const part of parts) {
    if (part.kind === "text" && !isBlank(part.text)) {
      wire.push({ text: trimBlank(part.text), thoughtSignature: signatures.get(part) });
    } else if (part.kind === "server_tool" && part.what === "blocks") {
      wire.push(...itemTexts(part.json ?? "").map((text) => new Raw(text)));
    } else if (part.kind === "tool_use") {
      // Of several calls in one step only the first needs a signature.
      const owed = calls++ === 0 && demanded ? STAND_IN : undefined;
      wire.push({
        functionCall: { id: ownId(part, options), name: wireName(part.name), args: new Raw(part.inputText) },
        thoughtSignature: signatures.get(part) ?? owed,
      });
    }
  }
  return wire;
}
