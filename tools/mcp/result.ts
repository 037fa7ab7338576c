// What a server answers to a call, as a result of a tool.

import type { ExecutionResult } from "../definition.ts";
import { isObject } from "../../base/is_object.ts";
import { formatSize } from "../truncate.ts";

/** Bytes that stand in an answer, to be put where the model can read them. */
export type SaveBytes = (bytes: Uint8Array<ArrayBuffer>, type: string) => Promise<string>;

/** The result: texts and resources as text, everything else saved and named; `isError` is an error. */
export async function resultOf(answer: unknown, save: SaveBytes): Promise<ExecutionResult> {
  if (!isObject(answer)) return { success: false, error: "The server answered with nothing." };
  const { content, structuredContent, isError } = answer;
  const parts: string[] = [];
  for (const block of Array.isArray(content) ? content : []) {
    const part = isObject(block) ? await textOf(block, save) : "";
    if (part !== "") parts.push(part);
  }
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const text = parts.join("\n\n");
  if (isError === true) return { success: false, error: text === "" ? "The tool failed." : text };
  return { success: true, output: text };
}

async function textOf(block: Record<string, unknown>, save: SaveBytes): Promise<string> {
  switch (block.type) {
    case "text":
      return String(block.text ?? "");
    case "image":
    case "audio":
      return await saved(block.data, block.mimeType, save);
    case "resource_link":
      return `[${block.name ?? "resource"}: ${block.uri}]`;
    case "resource": {
      const { resource } = block;
      if (!isObject(resource)) return "";
      if (typeof resource.text === "string") return `[${resource.uri}]\n${resource.text}`;
      return `[${resource.uri}]\n${await saved(resource.blob, resource.mimeType, save)}`;
    }
    default:
      return `[a part of the kind ${String(block.type)}, which is not shown]`;
  }
}

async function saved(data: unknown, type: unknown, save: SaveBytes): Promise<string> {
  const kind = typeof type === "string" ? type : "application/octet-stream";
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Uint8Array.fromBase64(String(data ?? ""));
  } catch {
    return `[${kind}, broken: it is not Base64]`;
  }
  return `[${kind}, ${formatSize(bytes.length)}; to see it, read ${await save(bytes, kind)}]`;
}
