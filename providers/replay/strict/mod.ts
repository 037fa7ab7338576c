// Checks by which the APIs refuse requests, loaded when a replay starts, unless it is lenient.

import type { Asked, DialectName } from "../dialect.ts";
import { refusals as chat } from "./chat.ts";
import { refusals as google } from "./google.ts";
import { refusals as openai } from "./openai.ts";

export { StrictMessages } from "./messages.ts";

/** Checks by API. Each returns the API's own message for each rule that a request breaks; empty for a valid request. */
export const REFUSALS: Readonly<Record<DialectName, (asked: Asked) => readonly string[]>> = {
  chat,
  google,
  openai,
};
