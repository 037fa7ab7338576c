// `flemma new`: a document to begin with.

import { newChat } from "../../agent/new_chat.ts";
import { operands } from "../../base/shell_word.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import type { Invocation } from "../invocation.ts";
import { textOption } from "../line/options.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { messages, environment } = invocation;
  const file = invocation.arguments.positionals[0]!;
  const made = await newChat(file, { system: textOption(invocation.arguments, "system") }, { environment });
  if (!made.ok) return refuse(invocation, made.problem);
  messages.note(`Write what you want below @You: in ${file}, then: flemma advance ${operands(file)}`);
  return Exit.ok;
}
