// Masking of secrets in a whole conversation before it is rendered.

import type { Masked, SecretMask } from "./secrets.ts";
import type { ConversationView, Field, HelperView, MessageView, PartView, ResultView } from "./types.ts";

/** A masked secret, with the line of the document that contains it, or the line of its block. */
export interface MaskedAt {
  readonly name: string;
  readonly line: number;
  /** Path of the helper's document that contains it. @default it is in the conversation itself */
  readonly document?: string;
}

/** Masks every secret in the conversation, and lists them in the order of the document. */
export function withoutSecrets(
  conversation: ConversationView,
  secrets: SecretMask,
): { readonly conversation: ConversationView; readonly masked: readonly MaskedAt[] } {
  const { mask } = secrets;
  const masked: MaskedAt[] = [];
  const text = (from: string, line: number, counts = true) => {
    const lineOf = lineCounter(from, line);
    return mask(from, ({ name, at }: Masked) => masked.push({ name, line: counts ? lineOf(at) : line }));
  };
  const resultOf = (result: ResultView): ResultView => ({
    ...result,
    id: text(result.id, result.line, false),
    ...result.waitsIn === undefined ? {} : { waitsIn: text(result.waitsIn, result.line, false) },
    // The text begins after the header and the fence.
    text: text(result.text, result.line + 3),
  });
  const fieldOf = (field: Field, line: number): Field => ({
    ...field,
    name: text(field.name, line, false),
    text: text(field.text, line, false),
  });
  const helperOf = (helper: HelperView, line: number): HelperView => {
    const inside = helper.conversation === null ? null : withoutSecrets(helper.conversation, secrets);
    const path = text(helper.path, line, false);
    masked.push(...(inside?.masked ?? []).map((each) => ({ document: path, ...each })));
    return {
      ...helper,
      name: text(helper.name, line, false),
      path,
      conversation: inside?.conversation ?? null,
    };
  };
  const partOf = (part: PartView): PartView => {
    switch (part.kind) {
      case "call":
        return {
          ...part,
          id: text(part.id, part.line, false),
          tool: text(part.tool, part.line, false),
          label: text(part.label, part.line, false),
          fields: part.fields.map((field) => fieldOf(field, part.line)),
          result: part.result === null ? null : resultOf(part.result),
          ...part.helper === undefined ? {} : { helper: helperOf(part.helper, part.line) },
        };
      case "result":
        return resultOf(part);
      case "server_tool":
      case "thinking":
        return { ...part, text: text(part.text, part.line + 1) };
      default:
        return { ...part, text: text(part.text, part.line) };
    }
  };
  const { settings, preamble } = conversation;
  const without: ConversationView = {
    title: text(conversation.title, 1, false),
    settings: settings === null ? null : {
      ...settings,
      language: text(settings.language, settings.line),
      code: text(settings.code, settings.line + 1),
    },
    preamble: preamble === null ? null : { ...preamble, text: text(preamble.text, preamble.line) },
    messages: conversation.messages.map((message): MessageView => ({
      ...message,
      role: text(message.role, message.line),
      parts: message.parts.map(partOf),
    })),
  };
  return { conversation: without, masked };
}

/**
 * Returns a function from a position in the text to its line; `first` is the line of the text itself. Call that
 * function with ascending positions.
 */
function lineCounter(text: string, first: number): (at: number) => number {
  let line = first;
  let next = text.indexOf("\n");
  return (at) => {
    for (; next >= 0 && next < at; next = text.indexOf("\n", next + 1)) line++;
    return line;
  };
}
