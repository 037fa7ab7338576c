// What a press by a person, and all that follows from it, came to.

import type { Chat } from "../../parser/types.ts";
import { firstLine, survey } from "../plan/open_calls.ts";
import { stopped } from "./stop.ts";
import type { Stop, StopReason } from "../types.ts";

/**
 * How a press ended, once everything is quiet: by `end` if something ended it, else by what the document waits for.
 * `yielded` are the calls whose tools asked for the person.
 */
export function conclude(chat: Chat, end: Stop | null, yielded: readonly string[]): Stop {
  const of = (reason: StopReason, ids: readonly string[]): Stop =>
    stopped(reason, { ids, line: firstLine(chat, ids) });
  if (end !== null) return end.reason === "cancelled" ? of("cancelled", end.ids) : end;
  const { approved, pending, protected: guarded } = survey(chat);
  if (approved.length > 0) return of("throttled", approved);
  if (pending.length > 0) return of("pending", pending);
  if (guarded.length > 0) return of("protected", guarded);
  return yielded.length > 0 ? of("yield", yielded) : stopped("stepped");
}
