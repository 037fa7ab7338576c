// Letting the model go on: the message that says so, where it or nobody spoke last.

import type { Edit } from "../../parser/edits/edit.ts";
import { sayNext } from "../../parser/edits/turn.ts";
import type { Chat } from "../../parser/types.ts";
import { CONTINUE } from "./sentences.ts";
import { lastWordIsModels, nothingToSend } from "./open_calls.ts";

/** The edit that asks the model to go on; none where calls, or a message of the person, are what comes next. */
export function goOn(chat: Chat): Edit[] {
  return lastWordIsModels(chat) || nothingToSend(chat) ? [sayNext(chat, CONTINUE)] : [];
}
