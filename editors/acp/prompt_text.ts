// What a person says through a client, as text of a document: their words stay words, and what they point at is attached.

import { isObject } from "../../base/is_object.ts";
import { pathOfUri, referenceTo } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { fenceFor } from "../../parser/edits/result_block.ts";
import { parse } from "../../parser/mod.ts";

/** A file that has to be there before the message that names it. */
export interface Attachment {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A message, and the files that it names. */
export interface PromptText {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

const IMAGES: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** What a message may hold, and where what it names is to be put. */
export interface PromptPlace {
  /** Whether tags of templates are evaluated in the document. */
  readonly templates: boolean;
  /** Names a file for an attachment: as the message refers to it, and where it is to be put. */
  readonly attach: (extension: string) => { readonly reference: string; readonly name: string };
}

/**
 * The message that the blocks of a prompt come to.
 *
 * @param blocks as they came
 * @returns the text. Fails with `prompt-empty`, or with `prompt-unreadable` for a block that is none.
 */
export function promptText(blocks: unknown, { templates, attach }: PromptPlace): Outcome<PromptText> {
  if (!Array.isArray(blocks)) return failure("prompt-unreadable", "A prompt is a list of blocks.");
  const pieces: string[] = [];
  const attachments: Attachment[] = [];
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
      if (bytes === null) return failure("prompt-unreadable", "An image is no base64.");
      const { reference, name } = attach(IMAGES[String(mimeType)]!);
      attachments.push({ name, bytes });
      pieces.push(reference);
    } else return failure("prompt-unreadable", `A block of type ${String(type)} cannot be read here.`);
  }
  // A blank at the beginning may be what makes it text.
  const text = pieces.join("\n").replace(/^\n+/, "").trimEnd();
  if (text.trim() === "") return failure("prompt-empty", "The prompt is empty.", "Write something.");
  return success({ text, attachments });
}

/** Where a template begins. */
const TAGS = /\{[{%]/g;
const REFERENCE = /@(?=\.{1,2}\/|~\/|\/\/)/;
/** A result, which no fence keeps from being one. */
const RESULT = /^\*\*(?=Tool)/m;
/** Where any of these begins. */
const SIGNS = new RegExp([TAGS, REFERENCE, RESULT].map(({ source }) => source).join("|"), "gm");

/** A person's words, of which none is read as structure or as a template; files that they name are meant. */
function asWords(text: string, templates: boolean): string {
  const plain = text.replaceAll("\r\n", "\n");
  const inert = templates ? literal(plain, TAGS) : plain;
  if (isWords(inert)) return inert;
  // A blank at the beginning of a line makes it text; a fence that stays open is closed.
  const moved = inert.replaceAll(/^(?=@|\*\*Tool|<|`{3,})/gm, " ");
  return isWords(moved) ? moved : moved.replaceAll("`", "'");
}

/** A text that is evaluated to the given one, in which none of the signs counts. */
function literal(text: string, signs: RegExp): string {
  if (text.search(signs) < 0) return text;
  // As a whole, unless something in it would end that, is structure all the same, or is to count.
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
 * A text that the client has at hand, under the name it has there. Nobody knows who wrote it: it names no file, answers no
 * call, and runs nothing.
 */
function embedded(uri: string, text: string, templates: boolean): string {
  const fence = fenceFor(text);
  const path = asWords((pathOfUri(uri) ?? uri).replaceAll(/[\s\p{Cc}]+/gu, " "), false);
  const body = text.replaceAll("\r\n", "\n").replace(/\n$/, "");
  const whole = `${path}:\n\n${fence}\n${body}\n${fence}\n`;
  // Without templates nothing can be enclosed; a blank keeps each of them from being one.
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
