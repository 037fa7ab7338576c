// `flemma reject`: marks calls as rejected, with a message for the model. Nothing runs.

import type { Invocation } from "../invocation.ts";
import { markCalls } from "./change_status.ts";
import { textOption } from "../line/options.ts";

export async function run(invocation: Invocation): Promise<number> {
  const message = textOption(invocation.arguments, "message") ?? "";
  return await markCalls(invocation, {
    done: "Rejected",
    mark: ({ cycle }, id) => cycle.reject(id, message),
  });
}
