// The message that asks the model to continue.

import type { Edit } from "../../parser/edits/edit.ts";
import { sayNext } from "../../parser/edits/turn.ts";
import type { Chat } from "../../parser/types.ts";
import { CONTINUE } from "./sentences.ts";
import { lastWordIsModels, nothingToSend } from "./open_calls.ts";

/** Returns the edit that asks the model to continue; empty if calls or a message of the user come next. */
export function askToContinue(chat: Chat): Edit[] {
  return lastWordIsModels(chat) || nothingToSend(chat) ? [sayNext(chat, CONTINUE)] : [];
}
