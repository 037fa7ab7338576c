// `flemma reject`: marks calls as rejected, with a message for the model. Runs nothing.

import type { Invocation } from "../invocation.ts";
import { textOption } from "../line/options.ts";
import { markCalls } from "./change_status.ts";

export async function run(invocation: Invocation): Promise<number> {
  const message = textOption(invocation.arguments, "message") ?? "";
  return await markCalls(invocation, {
    done: "Rejected",
    mark: (session, targets) => session.reject(targets, message),
  });
}
