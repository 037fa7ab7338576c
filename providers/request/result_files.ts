// Images and documents in results, and their removal for models that do not accept them.

import type { Part, Prompt } from "../../prompt/types.ts";
import type { RequestFallback } from "../types.ts";
import { requestName } from "./file_name.ts";

type FilePart = Extract<Part, { kind: "image" | "pdf" }>;

/** Error messages about files in a request that are unsupported, too many or too large. */
export const FILES_REFUSED: readonly [RegExp, RequestFallback] = [
  /\bimages?\b|image_url|\binput_image\b|\bpdfs?\b|\binput_file\b|\bvision\b|multi-?modal|unsupported mime|request_too_large|payload size|maximum size/i,
  "result-files",
];

export function resultFiles({ history }: Prompt): readonly FilePart[] {
  return history.flatMap(({ parts }) => parts).flatMap((part) =>
    part.kind === "tool_result" ? part.parts.filter(isFile) : []
  );
}

/** Replaces each image and document in a result with a line of text. */
export function withoutResultFiles(prompt: Prompt): Prompt {
  return {
    ...prompt,
    history: prompt.history.map((message) => ({ ...message, parts: message.parts.map(named) })),
  };
}

function named(part: Part): Part {
  if (part.kind !== "tool_result" || !part.parts.some(isFile)) return part;
  return {
    ...part,
    parts: part.parts.flatMap((inner): Part[] => {
      if (!isFile(inner)) return [inner];
      // If a tool returned the file, the text of the result already mentions it.
      return inner.attached === true ? [] : [{ kind: "text", text: `[binary file: ${requestName(inner)}]` }];
    }),
  };
}

function isFile(part: Part): part is FilePart {
  return part.kind === "image" || part.kind === "pdf";
}
