// The rules by which the APIs themselves refuse requests. Loaded when a replay starts, unless it is lenient.

import type { Asked, DialectName } from "../dialect.ts";
import { refusals as chat } from "./chat.ts";
import { refusals as google } from "./google.ts";
import { refusals as openai } from "./openai.ts";

export { StrictMessages } from "./messages.ts";

/** Every rule that a request breaks, as the API's own sentences, by API; empty for a request that the API would take. */
export const REFUSALS: Readonly<Record<DialectName, (asked: Asked) => readonly string[]>> = {
  chat,
  google,
  openai,
};
