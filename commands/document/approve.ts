// `flemma approve`: marks calls as approved by a person. Nothing runs.

import type { Invocation } from "../invocation.ts";
import { markCalls } from "./change_status.ts";

export async function run(invocation: Invocation): Promise<number> {
  return await markCalls(invocation, {
    done: "Approved",
    mark: (session, targets) => session.approve(...targets),
  });
}
