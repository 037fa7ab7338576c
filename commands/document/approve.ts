// `flemma approve`: marks calls as approved by a person. Nothing runs.

import { operands } from "../../base/shell_word.ts";
import type { Invocation } from "../invocation.ts";
import { markCalls } from "./change_status.ts";

export async function run(invocation: Invocation): Promise<number> {
  return await markCalls(invocation, {
    done: "Approved",
    // Who approves a call by its preview must have seen all of it (S5).
    guard: (runtime, id, label) => {
      const call = runtime.store.chat.call(id);
      if (call === undefined || !runtime.previewIsCut(call)) return null;
      return {
        code: "preview-cut",
        message: `The preview of ${id} does not show all of the call, so it has to be approved by its id.`,
        next: `Read it in the document (line ${call.place.start}), then name it: ` +
          `flemma approve ${operands(label, id)}`,
      };
    },
    mark: ({ cycle }, id) => cycle.approve(id),
  });
}
