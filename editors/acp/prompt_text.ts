// Converts a prompt of a client to document text. The person's words stay words, and the files that they name are
// attached.

import { isObject } from "../../base/is_object.ts";
import { pathOfUri, referenceTo } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { fenceFor } from "../../parser/edits/result_block.ts";
import { parse } from "../../parser/mod.ts";

/** A file to write before the message that refers to it. */
export interface PromptFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A message, and the files that it refers to. */
export interface PromptText {
  readonly text: string;
  /** True if all of it is text that the person typed, and nothing is the name or the text of a resource. */
  readonly isTyped: boolean;
  readonly attachments: readonly PromptFile[];
}

const IMAGES: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** What the document evaluates, and where attachments are stored. */
export interface PromptPlace {
  /** True if the document evaluates template tags. */
  readonly templates: boolean;
  /** Names a file for an attachment; returns the reference for the message, and the file's name. */
  readonly attach: (extension: string) => { readonly reference: string; readonly name: string };
}

/**
 * Converts the blocks of a prompt to a message.
 *
 * @param blocks the blocks as received
 * @returns the text. Fails with `prompt-empty`, or with `prompt-unreadable` for an invalid block.
 */
export function promptText(blocks: unknown, { templates, attach }: PromptPlace): Outcome<PromptText> {
  if (!Array.isArray(blocks)) return failure("prompt-unreadable", "A prompt must be a list of blocks.");
  const pieces: string[] = [];
  const attachments: PromptFile[] = [];
  for (const block of blocks) {
    const { type, text, uri, resource, data, mimeType, name } = isObject(block) ? block : {};
    if (type === "text" && typeof text === "string") pieces.push(asWords(text, templates));
    else if (type === "resource_link" && typeof uri === "string") {
      const path = pathOfUri(uri);
      pieces.push(path === null ? asWords(`${name ?? ""} ${uri}`, templates) : referenceTo(path));
    } else if (type === "resource" && isObject(resource) && typeof resource.text === "string") {
      pieces.push(embedded(String(resource.uri ?? ""), resource.text, templates));
    } else if (type === "image" && typeof data === "string" && IMAGES[String(mimeType)] !== undefined) {
      const bytes = decoded(data);
      if (bytes === null) return failure("prompt-unreadable", "An image is not valid base64.");
      const { reference, name } = attach(IMAGES[String(mimeType)]!);
      attachments.push({ name, bytes });
      pieces.push(reference);
    } else return failure("prompt-unreadable", `Blocks of type ${String(type)} are not supported.`);
  }
  // Blanks at the beginning of a line stay, because such a blank may keep the line from being read as structure.
  const text = pieces.join("\n").replace(/^\n+/, "").trimEnd();
  if (text.trim() === "") return failure("prompt-empty", "The prompt is empty.", "Write something.");
  const isTyped = blocks.every((block) => isObject(block) && block.type === "text");
  return success({ text, isTyped, attachments });
}

/** The beginning of a template tag. */
const TAGS = /\{[{%]/g;
const REFERENCE = /@(?=\.{1,2}\/|~\/|\/\/)/;
/** The beginning of a result, which is read as a result even in fences. */
const RESULT = /^\*\*(?=Tool)/m;
/** The beginning of a template tag, of a file reference or of a result. */
const SIGNS = new RegExp([TAGS, REFERENCE, RESULT].map(({ source }) => source).join("|"), "gm");

/** Escapes a person's words so that nothing in them is read as structure or as a template; file references stay. */
function asWords(text: string, templates: boolean): string {
  const plain = text.replaceAll("\r\n", "\n");
  const inert = templates ? literal(plain, TAGS) : plain;
  if (isWords(inert)) return inert;
  // A blank at the beginning makes a line plain text. If a fence would stay open, quotation marks replace its
  // backticks.
  const moved = inert.replaceAll(/^(?=@|\*\*Tool|<|`{3,})/gm, " ");
  return isWords(moved) ? moved : moved.replaceAll("`", "'");
}

/** Encodes a text so that it evaluates to itself and none of `signs` takes effect. */
function literal(text: string, signs: RegExp): string {
  if (text.search(signs) < 0) return text;
  // The whole text is enclosed in raw tags, unless a part of it would end the raw section, would be structure even
  // there, or must stay effective.
  const isWhole = !text.includes("endraw") && !RESULT.test(text) &&
    (signs === SIGNS || !REFERENCE.test(text));
  return isWhole ? `{% raw %}${text}{% endraw %}` : text.replaceAll(signs, (sign) => `{{ "${sign}" }}`);
}

function isWords(text: string): boolean {
  const chat = parse(new TextEncoder().encode(`@You:\n${text}\n\n@Assistant:\n`));
  const isWhole = chat.turnCount === 2 && chat.turns[1]?.place.start === chat.lineCount;
  return isWhole && [chat.calls, chat.results, chat.brokenResults].every(({ length }) => length === 0);
}

/**
 * Embeds a text of the client under the name that the client gives it. Its author is unknown, so it must not name
 * files, answer calls, or run anything.
 */
function embedded(uri: string, text: string, templates: boolean): string {
  const fence = fenceFor(text);
  const path = asWords((pathOfUri(uri) ?? uri).replaceAll(/[\s\p{Cc}]+/gu, " "), false);
  const body = text.replaceAll("\r\n", "\n").replace(/\n$/, "");
  const whole = `${path}:\n\n${fence}\n${body}\n${fence}\n`;
  // Without templates, text cannot be enclosed. A blank in each sign, or before it, makes the sign plain text.
  return (templates ? literal(whole, SIGNS) : whole.replaceAll(SIGNS, withBlank)).trimEnd();
}

function withBlank(sign: string): string {
  return sign === "@" ? "@ " : sign === "**" ? " **" : sign;
}

function decoded(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
