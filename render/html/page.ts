// A conversation as one self-contained HTML page. It has no scripts, no external resources, and only text from the
// document.

import type { ReadMarkdown } from "../markdown.ts";
import { helperWords, resultWords } from "../result_words.ts";
import type { SecretMask } from "../secrets.ts";
import type {
  CallView,
  ConversationView,
  Field,
  HelperView,
  MessageView,
  PartView,
  ResultView,
} from "../types.ts";
import { escapeHtml } from "./escape.ts";
import { markdownHtml } from "./markdown.ts";
import { STYLE, styleDigest } from "./style.ts";

/**
 * Beginning of every page. If an existing file begins with this text, it is a generated page, and another page may
 * replace it.
 */
export const PAGE_START = "<!doctype html>\n<!-- a conversation, made by flemma show -->\n";

export interface PageOptions {
  readonly markdown: ReadMarkdown;
  /**
   * Mask that is applied again after Markdown is converted, because a formatting character inside a secret may have
   * hidden the secret from the first masking.
   */
  readonly secrets: SecretMask;
  /** Files for the end of the page. @default none */
  readonly files?: readonly PageFile[];
}

export interface PageFile {
  /** Path as in the conversation. */
  readonly path: string;
  readonly content:
    | { readonly kind: "text"; readonly text: string }
    /** An image: `data` in base64; `mimeType` is one that browsers show. */
    | { readonly kind: "image"; readonly mimeType: string; readonly data: string };
}

export async function* pageHtml(
  conversation: ConversationView,
  options: PageOptions,
): AsyncGenerator<string> {
  const { title, messages } = conversation;
  const clean = (text: string) => options.secrets.mask(text);
  const write = new Writer(options.markdown, clean);
  // Whatever the page contains, the policy allows only its style sheet and embedded images; nothing else loads or runs.
  const policy = `default-src 'none'; style-src 'sha256-${await styleDigest()}'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'";
  yield PAGE_START +
    '<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
    `<meta http-equiv="Content-Security-Policy" content="${policy}">\n` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n' +
    '<meta name="referrer" content="no-referrer">\n' +
    `<title>${escapeHtml(title)}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<main>\n` +
    `<h1>${escapeHtml(title)}</h1>\n<p class="about">${amount(messages)}</p>\n`;
  yield* write.conversation(conversation);
  for (const file of options.files ?? []) yield write.file(file);
  yield "</main>\n</body>\n</html>\n";
}

function amount(messages: readonly MessageView[]): string {
  const calls = messages.flatMap(({ parts }) => parts).filter(({ kind }) => kind === "call").length;
  const counted = (count: number, what: string) =>
    `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
  return [counted(messages.length, "message"), ...(calls === 0 ? [] : [counted(calls, "call")])].join(", ");
}

/** Image types that every browser shows and that cannot contain scripts. */
const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function isPicture({ mimeType, data }: { readonly mimeType: string; readonly data: string }): boolean {
  return PICTURES.has(mimeType) && /^[A-Za-z0-9+/]+=*$/.test(data);
}

/** Maximum number of lines of a result that is shown unfolded. */
const OPEN_LINES = 12;
/**
 * Maximum number of lines of a failed result that is shown unfolded. It is larger than that for other results, because
 * people look for failures.
 */
const OPEN_FAILURE_LINES = 60;

class Writer {
  readonly #markdown: ReadMarkdown;
  readonly #clean: (text: string) => string;

  constructor(markdown: ReadMarkdown, clean: (text: string) => string) {
    this.#markdown = markdown;
    this.#clean = clean;
  }

  *conversation({ settings, preamble, messages }: ConversationView): Generator<string> {
    if (settings !== null) yield this.details(`Frontmatter, ${settings.language}`, settings.code);
    if (preamble !== null) yield `<section>${this.prose(preamble.text)}</section>\n`;
    for (const message of messages) yield this.message(message);
  }

  message({ role, parts }: MessageView): string {
    const kind = role === "You" ? "you" : role === "Assistant" ? "assistant" : "system";
    const inside = parts.map((part) => this.#part(part)).join("\n");
    return `<article class="${kind}">\n<h2>${escapeHtml(role)}</h2>\n${inside}\n</article>\n`;
  }

  prose(text: string): string {
    return markdownHtml(this.#markdown(text), this.#clean);
  }

  details(summary: string, text: string, kind = ""): string {
    return `<details${kind === "" ? "" : ` class="${kind}"`}><summary>${escapeHtml(summary)}</summary>${
      pre(text)
    }</details>\n`;
  }

  file({ path, content }: PageFile): string {
    const body = content.kind === "text"
      ? this.details(path, this.#clean(content.text))
      : isPicture(content)
      ? `<figure><img src="data:${content.mimeType};base64,${content.data}" alt="${escapeHtml(path)}">` +
        `<figcaption class="name">${escapeHtml(path)}</figcaption></figure>\n`
      : `<p class="state open">${escapeHtml(path)}: browsers cannot show this file</p>\n`;
    return `<section class="file">${body}</section>\n`;
  }

  #part(part: PartView): string {
    switch (part.kind) {
      case "prose":
        return this.prose(part.text);
      case "thinking":
        return part.redacted || part.text.trim() === ""
          ? '<p class="state good">thinking, hidden by the provider</p>'
          : this.details("thinking", part.text.trim(), "thinking");
      case "server_tool":
        return this.details(part.title, part.text.trim(), "thinking");
      case "aborted":
        return `<p class="state open">interrupted: ${escapeHtml(part.text)}</p>`;
      case "call":
        return this.#call(part);
      case "result":
        return this.#result(part);
    }
  }

  #call({ tool, id, label, fields, result, helper }: CallView): string {
    const labelHtml = label === "" ? "" : ` <span class="label">${escapeHtml(label)}</span>`;
    const head = `<p class="head"><span class="tool">${
      escapeHtml(tool)
    }</span>${labelHtml} <span class="id">${escapeHtml(id)}</span></p>`;
    const answer = result === null ? '<p class="state open">no result yet</p>' : this.#result(result);
    const below = helper === undefined ? "" : this.#helper(helper);
    return `<div class="call">${head}${fields.map(fieldHtml).join("")}${answer}${below}</div>`;
  }

  #helper(helper: HelperView): string {
    const { name, waits, conversation } = helper;
    const tone = waits ? "open" : "good";
    const words = escapeHtml(`helper ${name}: ${helperWords(helper)}`);
    if (conversation === null) return `<p class="state ${tone}">${words}</p>`;
    const inside = [...this.conversation(conversation)].join("");
    return `<details class="helper ${tone}"><summary>${words}</summary>\n${inside}</details>`;
  }

  #result(result: ResultView): string {
    const { words, tone } = resultWords(result);
    if (result.text.trim() === "") return `<p class="state ${tone}">${escapeHtml(words)}</p>`;
    const lines = countLines(result.text);
    const open = lines <= (tone === "bad" ? OPEN_FAILURE_LINES : OPEN_LINES) ? " open" : "";
    const size = lines === 1 ? "" : `, ${lines.toLocaleString("en")} lines`;
    return `<details class="${tone}"${open}><summary>${escapeHtml(words)}${size}</summary>${
      pre(result.text)
    }</details>`;
  }
}

function fieldHtml({ name, kind, text }: Field): string {
  if (kind === "command") return pre(text);
  if (kind === "diff") return diffHtml(text);
  if (!text.includes("\n")) {
    return `<p class="name">${escapeHtml(name)}: <code>${escapeHtml(text)}</code></p>`;
  }
  return countLines(text) <= OPEN_LINES
    ? `<p class="name">${escapeHtml(name)}</p>${pre(text)}`
    : `<details><summary>${escapeHtml(name)}, ${countLines(text).toLocaleString("en")} lines</summary>${
      pre(text)
    }</details>`;
}

function diffHtml(text: string): string {
  if (text === "") return '<p class="state good">no changes</p>';
  const lines = text.split("\n").map((line) => {
    const element = line.startsWith("+") ? "ins" : line.startsWith("-") ? "del" : "span";
    return `<${element}>${escapeHtml(line)}</${element}>`;
  });
  return `<pre class="diff">${lines.join("")}</pre>`;
}

/** Adds a line feed if the text begins with one, because HTML ignores the first one in a `pre`. */
function pre(text: string): string {
  return `<pre>${text.startsWith("\n") ? "\n" : ""}${escapeHtml(text.replace(/\n$/, ""))}</pre>`;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
