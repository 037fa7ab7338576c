// `flemma advance`: runs the cycle until a person is needed or the reply is complete.

import type { Invocation } from "../invocation.ts";
import { drive, goesOn } from "./drive.ts";

export async function run(invocation: Invocation): Promise<number> {
  return await drive(invocation, ({ session }) => session.advance({ goOn: goesOn(invocation) }));
}
