// `flemma advance`: runs the cycle until a person is needed or the reply is complete.

import type { Invocation } from "../invocation.ts";
import type { CommandDocument } from "../document/open.ts";
import { drive, goesOn } from "./drive.ts";

export async function run(invocation: Invocation): Promise<number> {
  const act = ({ session }: CommandDocument) => session.advance({ goOn: goesOn(invocation) });
  return await drive(invocation, act, { compacts: true });
}
