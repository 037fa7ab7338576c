// What a person says through a client, as text of a document: their words stay words, and what they point at is attached.

import { isObject } from "../../base/is_object.ts";
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

/**
 * The message that the blocks of a prompt come to.
 *
 * @param blocks as they came
 * @param place names a file for an attachment: as the message refers to it, and where it is to be put
 * @returns the text. Fails with `prompt-empty`, or with `prompt-unreadable` for a block that is none.
 */
export function promptText(
  blocks: unknown,
  place: (extension: string) => { readonly reference: string; readonly name: string },
): Outcome<PromptText> {
  if (!Array.isArray(blocks)) return failure("prompt-unreadable", "A prompt is a list of blocks.");
  const pieces: string[] = [];
  const attachments: Attachment[] = [];
  for (const block of blocks) {
    const { type, text, uri, resource, data, mimeType, name } = isObject(block) ? block : {};
    if (type === "text" && typeof text === "string") pieces.push(asWords(text));
    else if (type === "resource_link" && typeof uri === "string") {
      pieces.push(reference(uri) ?? asWords(`${name ?? ""} ${uri}`));
    } else if (type === "resource" && isObject(resource) && typeof resource.text === "string") {
      pieces.push(embedded(String(resource.uri ?? ""), resource.text));
    } else if (type === "image" && typeof data === "string" && IMAGES[String(mimeType)] !== undefined) {
      const bytes = decoded(data);
      if (bytes === null) return failure("prompt-unreadable", "An image is no base64.");
      const { reference, name } = place(IMAGES[String(mimeType)]!);
      attachments.push({ name, bytes });
      pieces.push(`@${reference}`);
    } else return failure("prompt-unreadable", `A block of type ${String(type)} cannot be read here.`);
  }
  const text = pieces.join("\n").trim();
  if (text === "") return failure("prompt-empty", "The prompt is empty.", "Write something.");
  return success({ text, attachments });
}

/** A person's words, of which none is read as structure or as a template. */
function asWords(text: string): string {
  const plain = text.replaceAll("\r\n", "\n");
  const raw = /\{\{|\{%/.test(plain) ? `{% raw %}${plain}{% endraw %}` : plain;
  if (isWords(raw)) return raw;
  // A blank at the beginning of a line makes it text; a fence that stays open is closed.
  const moved = raw.split("\n").map((line) => /^(?:@|\*\*Tool|<|`{3,})/.test(line) ? ` ${line}` : line).join(
    "\n",
  );
  return isWords(moved) ? moved : moved.replaceAll("`", "'");
}

function isWords(text: string): boolean {
  const chat = parse(new TextEncoder().encode(`@You:\n${text}\n\n@Assistant:\n`));
  const isWhole = chat.turnCount === 2 && chat.turns[1]?.place.start === chat.lineCount;
  return isWhole && chat.calls.length === 0 && chat.results.length === 0;
}

/** A file by its path, as a reference has it; null for what is no file. */
function reference(uri: string): string | null {
  const url = URL.parse(uri);
  if (url?.protocol !== "file:") return null;
  const path = decodeURIComponent(url.pathname);
  return `@/${path.replace(/[\s%;]/g, encodeURIComponent)}`;
}

/** A text that the client has at hand, under the name it has there. */
function embedded(uri: string, text: string): string {
  const path = URL.parse(uri)?.protocol === "file:" ? decodeURIComponent(new URL(uri).pathname) : uri;
  const fence = fenceFor(text);
  const body = `${asWords(path)}:\n\n${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
  return /\{\{|\{%/.test(text) ? `{% raw %}${body}{% endraw %}` : body;
}

function decoded(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
