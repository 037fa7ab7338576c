// Converts a server's answer to the result of a tool call.

import type { ExecutionResult } from "../definition.ts";
import { isObject } from "../../base/is_object.ts";
import type { Environment } from "../../base/environment.ts";
import { takeFile, type TakenFile } from "../overflow/attachments.ts";

/**
 * Returns the result. Text and text resources become its text; any other content is stored as a file, and a line of the
 * text names the file. `isError` makes it an error.
 */
export async function resultOf(answer: unknown, environment: Environment): Promise<ExecutionResult> {
  if (!isObject(answer)) return { success: false, error: "The server returned an empty result." };
  const { content, structuredContent, isError } = answer;
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const taken = await Promise.all(blocks.map((block) => takeBlock(block, environment)));
  const parts = taken.map(({ text }) => text).filter((text) => text !== "");
  const attachments = taken.flatMap(({ attachment }) => attachment ?? []);
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const text = parts.join("\n\n");
  if (isError === true) {
    return { success: false, error: text === "" ? "The tool failed." : text, attachments };
  }
  return { success: true, output: text, attachments };
}

async function takeBlock(block: Record<string, unknown>, environment: Environment): Promise<TakenFile> {
  switch (block.type) {
    case "text":
      return textAlone(String(block.text ?? ""));
    case "image":
    case "audio":
      return await takeFile({ type: block.mimeType, data: block.data ?? "" }, environment);
    case "resource_link":
      return textAlone(`[${block.name ?? "resource"}: ${block.uri}]`);
    case "resource": {
      const { resource } = block;
      if (!isObject(resource)) return textAlone("");
      const { uri, text, blob, mimeType } = resource;
      if (typeof text === "string") return textAlone(`[${uri}]\n${text}`);
      const taken = await takeFile({ type: mimeType, data: blob ?? "" }, environment);
      return { ...taken, text: `[${uri}]\n${taken.text}` };
    }
    default:
      return textAlone(`[content of type ${String(block.type)} is not shown]`);
  }
}

function textAlone(text: string): TakenFile {
  return { text, attachment: null };
}
