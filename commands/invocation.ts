// One invocation of the program, as its command sees it.

import type { Environment } from "../base/environment.ts";
import type { Arguments } from "./line/options.ts";
import type { StandardInput } from "./io/streams.ts";
import type { Messages } from "./io/messages.ts";

export interface Invocation {
  readonly arguments: Arguments;
  readonly environment: Environment;
  readonly input: StandardInput;
  /** Receives messages for people. */
  readonly messages: Messages;
}
