// Tells how to approve a call whose preview omits part of it.

import type { Problem } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import type { Call } from "../../parser/types.ts";

/**
 * Returns why a call with an incomplete preview is not approved together with other calls.
 *
 * @param name its id in a form that a person can type
 * @param file the document as commands name it; null for a text that is not from a file
 */
export function cutPreview({ id, place }: Call, name: string, file: string | null): Problem {
  const named = `(line ${place.start}), then approve it: flemma approve ${
    operands(...file === null ? [] : [file], name)
  }`;
  return {
    code: "preview-cut",
    message: `The preview does not show all of the call ${id}, so approve it by its id.`,
    next: file === null
      ? `Read it in the document ${named}`
      : `See all of it with flemma review ${operands(file)}, or read it in the document ${named}`,
  };
}
