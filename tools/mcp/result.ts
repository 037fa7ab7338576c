// What a server answers to a call, as a result of a tool.

import type { ExecutionResult } from "../definition.ts";
import { isObject } from "../../base/is_object.ts";
import type { Environment } from "../../base/environment.ts";
import { takeFile, type TakenFile } from "../overflow/attachments.ts";

/** The result: texts and resources as text, everything else kept and named by a line in its place; `isError` is an error. */
export async function resultOf(answer: unknown, environment: Environment): Promise<ExecutionResult> {
  if (!isObject(answer)) return { success: false, error: "The server answered with nothing." };
  const { content, structuredContent, isError } = answer;
  const parts: string[] = [];
  const attachments: string[] = [];
  const taken: Take = async (data, type) => {
    const { text, attachment } = await takeFile({ type, data: data ?? "" }, environment);
    if (attachment !== null) attachments.push(attachment);
    return text;
  };
  for (const block of Array.isArray(content) ? content : []) {
    const part = isObject(block) ? await textOf(block, taken) : "";
    if (part !== "") parts.push(part);
  }
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const text = parts.join("\n\n");
  if (isError === true) {
    return { success: false, error: text === "" ? "The tool failed." : text, attachments };
  }
  return { success: true, output: text, attachments };
}

/** Takes bytes over that stand in an answer as Base64; gives what the result says of them. */
type Take = (data: unknown, type: unknown) => Promise<TakenFile["text"]>;

async function textOf(block: Record<string, unknown>, take: Take): Promise<string> {
  switch (block.type) {
    case "text":
      return String(block.text ?? "");
    case "image":
    case "audio":
      return await take(block.data, block.mimeType);
    case "resource_link":
      return `[${block.name ?? "resource"}: ${block.uri}]`;
    case "resource": {
      const { resource } = block;
      if (!isObject(resource)) return "";
      if (typeof resource.text === "string") return `[${resource.uri}]\n${resource.text}`;
      return `[${resource.uri}]\n${await take(resource.blob, resource.mimeType)}`;
    }
    default:
      return `[a part of the kind ${String(block.type)}, which is not shown]`;
  }
}
