// Converts a Messages API request to document text, word for word.

import { isObject } from "../../../base/is_object.ts";
import { compactJson, itemTexts, valueText } from "../../../base/text/json_text.ts";
import { ReplyWriter } from "../../../cycle/send/reply.ts";
import { BlockCollector, CitationCollector } from "../../../providers/server_tools/collect.ts";
import type { Effect } from "../../../providers/types.ts";
import { fenceFor } from "../../../parser/edits/result_block.ts";
import { fenceAfter } from "../../../parser/edits/escape.ts";

/** The document, and sentences about what was left out of it. */
export interface Converted {
  readonly text: string;
  readonly leftOut: readonly string[];
}

/** A request, decoded and as JSON text. */
export interface ImportedRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly json: string;
}

/**
 * Returns the document that would send this request.
 *
 * @param keep keeps what a tool of the provider returned, and returns the value of its tag
 */
export async function documentOf(
  { body: request, json }: ImportedRequest,
  keep: (payload: string) => Promise<string>,
): Promise<Converted> {
  const leftOut: string[] = [];
  const note = (sentence: string) => void (leftOut.includes(sentence) || leftOut.push(sentence));
  const parts = [firstBlock(request, note)];
  const system = textOf(request.system, note);
  if (system !== "") parts.push(`@System:\n${literal(system, note)}\n`);
  const messages = Array.isArray(request.messages) ? request.messages : [];
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) continue;
    if (message.role === "assistant") {
      const texts = () => itemTexts(valueText(json, ["messages", index, "content"]) ?? "");
      parts.push(await reply(message.content, { note, keep, texts }));
    } else if (message.role === "user") parts.push(question(message.content, note));
    else note(`A message with the role ${JSON.stringify(message.role)} was left out.`);
  }
  if (messages.at(-1)?.role !== "user") parts.push("@You:\n");
  const known = new Set(["model", "system", "messages", "stream", ...SETTINGS]);
  for (const name of Object.keys(request)) if (!known.has(name)) note(`The parameter ${name} was left out.`);
  return { text: parts.filter((part) => part !== "").join("\n"), leftOut };
}

type Note = (sentence: string) => void;

/** Parameters that are settings under the same name. */
const SETTINGS = ["max_tokens", "temperature", "thinking"];

function firstBlock(request: Readonly<Record<string, unknown>>, note: Note): string {
  const parameters: Record<string, unknown> = {};
  for (const name of ["max_tokens", "temperature"]) {
    if (typeof request[name] === "number") parameters[name] = request[name];
  }
  const thinking = isObject(request.thinking) ? request.thinking : {};
  if (thinking.type === "disabled") parameters.thinking = false;
  else if (typeof thinking.budget_tokens === "number") parameters.thinking = thinking.budget_tokens;
  else if (request.thinking !== undefined && thinking.type !== "adaptive") {
    note("The parameter thinking was left out.");
  }
  const settings = {
    ...(typeof request.model === "string" ? { model: request.model } : {}),
    ...(Object.keys(parameters).length > 0 ? { parameters } : {}),
  };
  if (Object.keys(settings).length === 0) return "";
  return `\`\`\`json\n${JSON.stringify({ flemma: settings }, null, 2)}\n\`\`\`\n`;
}

function question(content: unknown, note: Note): string {
  const results = blocksOf(content).filter(({ type }) => type === "tool_result").map((block) =>
    result(block, note)
  );
  const text = textOf(content, note);
  const userText = text === "" ? "" : `${literal(text, note)}\n`;
  return `@You:\n${[...results, userText].filter((part) => part !== "").join("\n")}`;
}

function result({ tool_use_id, content, is_error }: Readonly<Record<string, unknown>>, note: Note): string {
  const text = textOf(content, note);
  const fence = fenceFor(text);
  const status = is_error === true ? " (error)" : "";
  return `\n**Tool Result:** \`${String(tool_use_id)}\`${status}\n\n${fence}\n${text}\n${fence}\n`;
}

/** Writes a reply as if it streamed in, so that no text of it is read as structure. */
async function reply(
  content: unknown,
  { note, keep, texts }: {
    readonly note: Note;
    readonly keep: (payload: string) => Promise<string>;
    /** Returns the JSON texts of the blocks. */
    readonly texts: () => readonly string[];
  },
): Promise<string> {
  const writer = new ReplyWriter("@Assistant:\n");
  const searches = new BlockCollector(PROVIDER);
  const citations = new CitationCollector(PROVIDER);
  let jsonTexts: readonly string[] | null = null;
  const write = async (effects: readonly Effect[]) => {
    for (const effect of effects) {
      if (effect.kind === "server_tool") writer.applyServerTool(effect, await keep(effect.json));
      else if (effect.kind === "notice") note(effect.message);
      else {
        const problem = writer.apply(effect);
        if (problem !== null) note(problem.message);
      }
    }
  };
  const blocks: readonly unknown[] = Array.isArray(content) ? content : blocksOf(content);
  for (const [at, block] of blocks.entries()) {
    if (!isObject(block)) continue;
    const { type } = block;
    if (type === "text") {
      const text = String(block.text ?? "");
      citations.add(text);
      if (Array.isArray(block.citations) && block.citations.length > 0) {
        const json = (jsonTexts ??= texts())[at] ?? "";
        for (const each of itemTexts(valueText(json, ["citations"]) ?? "")) citations.cite(compactJson(each));
      }
      citations.endBlock();
      await write([...searches.flush(), { kind: "text", text }]);
      continue;
    }
    await write(citations.flush());
    if (type === "tool_use") {
      const { id, name, input } = block;
      const inputText = JSON.stringify(input ?? {}, null, 2);
      const call = { kind: "tool_use", id: String(id ?? ""), name: String(name ?? ""), inputText } as const;
      await write([...searches.flush(), call]);
      continue;
    }
    const ran = searches.add(block, compactJson((jsonTexts ??= texts())[at] ?? JSON.stringify(block)));
    if (ran === null) note(`Blocks of the type ${JSON.stringify(type)} were left out.`);
    else await write(ran);
  }
  await write([...citations.flush(), ...searches.flush()]);
  // A `@You:` message follows anyway.
  return writer.finish({ kind: "completed" }, true).join("").replace(/\n*$/, "\n");
}

/** The provider of the request, as tags name it. */
const PROVIDER = "anthropic";

function blocksOf(content: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** Returns all text of a message's content, one part per line. */
function textOf(content: unknown, note: Note): string {
  return blocksOf(content).flatMap((block) => {
    if (block.type === "text") return [String(block.text ?? "")];
    if (block.type !== "tool_result") note(`Blocks of the type ${JSON.stringify(block.type)} were left out.`);
    return [];
  }).join("\n").trim();
}

/** Escapes a text so that it is sent unchanged: tags and references have no effect, and no line begins a message. */
function literal(text: string, note: Note): string {
  let fence = 0;
  const lines = text.split("\n").map((line) => {
    const hidden = fence > 0;
    fence = fenceAfter(fence, line);
    if (hidden || !STRUCTURE.test(line)) return line;
    note("Lines that would start a message or a result were indented by a space.");
    return ` ${line}`;
  });
  if (fence > 0) lines.push("`".repeat(fence));
  const safe = lines.join("\n");
  if (!MEANS_MORE.test(safe)) return safe;
  // Raw text cannot contain its own end tag.
  const raw = safe.replace(END_OF_RAW, (end) => `{% endraw %}{{ ${JSON.stringify(end)} }}{% raw %}`);
  return `{% raw %}${raw}{% endraw %}`;
}

/** Matches lines that a document reads as the beginning of a message or of a tool block. */
const STRUCTURE = /^(?:@[A-Za-z]+:\s*$|\*\*Tool (?:Use|Result):\*\*)/;

const END_OF_RAW = /\{%-?\s*endraw\s*-?%\}/g;

/** Matches template tags and references to files. */
const MEANS_MORE = /\{\{|\{%|@(?:\.{0,2}|~)\//;
