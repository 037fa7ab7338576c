// Describes a call to clients: title, kind, locations, and the changes it would make.

import type { ToolCall, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { ChatSession, FileTexts } from "../../agent/types.ts";
import { callTitle } from "../../agent/views/call_title.ts";
import { folderOfDocument, resolvePath } from "../../base/paths.ts";
import { visible } from "../../base/visible.ts";
import { splitLines } from "../../cycle/storage/lines.ts";
import type { Call, Result } from "../../parser/types.ts";
import type { RegisteredTool } from "../../tools/definition.ts";

/** Number of bytes above which only the part of a file that changes is shown. */
const WHOLE_FILE = 64 * 1024;
/** Number of context lines around the part of a file that changes. */
const AROUND = 3;
/** Maximum number of characters shown of a result. */
const MOST_CHARACTERS = 50_000;

/**
 * Describes a call, with what it would change in a file.
 *
 * @param whole true to include all of a large file, not only the part that changes
 */
export async function toolCall(
  session: ChatSession,
  call: Call,
  { whole = false } = {},
): Promise<ToolCall> {
  const texts = await session.fileTexts(call.id);
  const asked = session.chat.result(call.id)?.questions ?? null;
  const questions = asked === null ? [] : resultContent({ content: asked });
  return {
    toolCallId: call.id,
    title: callTitle(call, session.settings),
    name: call.name,
    kind: kindOf(await session.tool(call.name)),
    status: "pending",
    rawInput: call.input,
    locations: locationsOf(session, call),
    content: [
      ...questions,
      ...texts === null ? [] : [{ type: "diff", ...(whole ? wholeFile(texts) : passage(texts)) } as const],
    ],
  };
}

/** Returns the kind of a tool, which is only known for built-in tools. */
function kindOf(tool: RegisteredTool | undefined): ToolKind {
  if (tool?.origin !== "built-in") return "other";
  if (tool.command_input !== undefined) return "execute";
  if (tool.searches !== undefined) return "search";
  if (tool.path_input === undefined) return "other";
  return tool.effects === "reads" ? "read" : "edit";
}

/** Returns a result as content of its call. */
export function resultContent({ content }: Pick<Result, "content">): ToolCallContent[] {
  const text = visible(content.slice(0, MOST_CHARACTERS), { lines: true });
  return text === "" ? [] : [{ type: "content", content: { type: "text", text } }];
}

function locationsOf({ path }: ChatSession, { input }: Call): ToolCallLocation[] {
  if (typeof input.path !== "string" || path === null) return [];
  const line = typeof input.offset === "number" ? input.offset : undefined;
  const real = resolvePath(input.path, { folder: folderOfDocument(path), home: "/" });
  return [{ path: real, ...(line === undefined ? {} : { line }) }];
}

function wholeFile({ path, before, after }: FileTexts) {
  return { path, oldText: before, newText: after };
}

/** Returns the whole file. For a large file, returns only the changed lines with some context. */
function passage(
  { path, before, after }: FileTexts,
): { path: string; oldText: string | null; newText: string } {
  const length = Math.max(before?.length ?? 0, after.length);
  if (before === null || length <= WHOLE_FILE) return wholeFile({ path, before, after });
  const lines = (text: string) => splitLines(new TextEncoder().encode(text));
  const [old, now] = [lines(before), lines(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const from = Math.max(0, head - AROUND);
  const cut = (all: readonly string[]) =>
    all.slice(from, Math.min(all.length, all.length - tail + AROUND)).join("");
  return { path, oldText: cut(old), newText: cut(now) };
}
