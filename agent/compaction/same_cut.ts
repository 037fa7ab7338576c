// Finds the place of a cut again in a document that may have changed meanwhile.

import { sameBytes } from "../../base/bytes.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Chat } from "../../parser/types.ts";
import type { Cut } from "../conversation/cut.ts";
import { callsWait } from "../views/next_need.ts";

/** Moves a cut to the current version of a document. Fails with `document-changed` if what is to be summarized changed. */
export function sameCut(current: Chat, before: Chat, cut: Cut): Outcome<Cut> {
  const kept = current.turns.filter(({ place }) => place.from >= cut.kept);
  const same = current.byteLength >= cut.kept && !callsWait(current) &&
    sameBytes(current.slice(0, cut.kept), before.slice(0, cut.kept)) &&
    (current.byteLength === cut.kept || kept[0]?.place.from === cut.kept);
  return same ? success({ ...cut, turns: kept }) : failure(
    "document-changed",
    "The document was not compacted, because it changed in the meantime.",
    "Compact it again.",
  );
}
