// `flemma git textconv`: a conversation as git shows it in diffs, calls and results short and easy to read.

import { visible } from "../../../base/visible.ts";
import { unescapeTurn } from "../../../parser/edits/escape.ts";
import { parse } from "../../../parser/mod.ts";
import type { Call, Chat, Result, Segment } from "../../../parser/types.ts";
import { absolutePath } from "../../../base/paths.ts";
import { thrownText } from "../../../base/problem.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { writeOutput } from "../../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const [file = ""] = invocation.arguments.positionals;
  let bytes: Uint8Array;
  try {
    bytes = await Deno.readFile(absolutePath(invocation.environment, file));
  } catch (thrown) {
    return refuse(invocation, {
      code: "document-unreadable",
      message: `${file} cannot be read: ${thrownText(thrown)}.`,
    });
  }
  writeOutput(visible(plainText(parse(bytes)), { lines: true }));
  return Exit.ok;
}

/** The conversation in lines: each message under its marker, `▶` before a call, `◀` before a result. */
export function plainText(chat: Chat): string {
  const lines: string[] = [];
  if (chat.frontmatter !== null) {
    const { language, code } = chat.frontmatter;
    lines.push(`first block, ${language}:`, ...indented(code), "");
  }
  for (const turn of chat.turns) {
    lines.push(`@${turn.role}:`);
    for (const segment of unescapeTurn(chat, turn)) lines.push(...linesOf(segment, chat));
    lines.push("");
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

function linesOf(segment: Segment, chat: Chat): readonly string[] {
  switch (segment.kind) {
    case "text":
      return trimmed(segment.value);
    case "expression":
    case "code":
      return trimmed(new TextDecoder().decode(chat.bytes.subarray(segment.place.from, segment.place.to)));
    case "thinking":
      return [segment.redacted ? "(hidden thinking)" : "(thinking)"];
    case "aborted":
      return [`(stopped: ${segment.message})`];
    case "tool_use":
      return callLines(segment);
    case "tool_result":
      return resultLines(segment);
  }
}

/** The input as a person reads it: of one text the text, of more each by its name. */
function callLines({ id, name, input }: Call): readonly string[] {
  const members = Object.entries(input).filter(([, value]) => value !== null);
  const shown = members.flatMap(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const [first = "", ...rest] = text.split("\n");
    return [`  ${key}: ${first}`, ...rest.map((line) => `    ${line}`)];
  });
  return [`▶ ${name} ${id}`, ...shown];
}

function resultLines({ id, status, content }: Result): readonly string[] {
  return [`◀ ${id}${status === null ? "" : ` (${status})`}`, ...indented(content)];
}

function indented(text: string): readonly string[] {
  return trimmed(text).map((line) => `  ${line}`);
}

/** Lines without empty ones around. */
function trimmed(text: string): readonly string[] {
  const inner = text.replace(/^(?:[ \t]*\r?\n)+/, "").trimEnd();
  return inner === "" ? [] : inner.split(/\r?\n/);
}
