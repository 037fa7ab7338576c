// `flemma advance`: the cycle, until a person is needed or the reply is complete.

import { withDocument } from "./open.ts";
import { drive } from "./drive.ts";
import type { Invocation } from "../invocation.ts";

export async function run(invocation: Invocation): Promise<number> {
  return await withDocument(invocation, (document) => {
    return drive(invocation, document, ({ cycle }) => cycle.advance());
  });
}
