// `flemma status`: what stands open in a document, and what the next advance would do and why.

import { lastMessages, messagesKey } from "../../io/saved_messages.ts";
import { knownPath } from "../../../cycle/storage/read.ts";
import { documentKey } from "../../../cycle/storage/state_files.ts";
import { parse } from "../../../parser/mod.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { pipedBeside } from "../../io/piped_document.ts";
import { writeLines } from "../../io/streams.ts";
import { switchOption, textOption } from "../../line/options.ts";
import { quietStatus } from "./quick.ts";

export async function run(invocation: Invocation): Promise<number> {
  if (switchOption(invocation.arguments, "last") === true) return await showLast(invocation);
  const told = await quietStatus(invocation);
  if (told !== null) return told;
  const opened = await import("./opened.ts");
  return await opened.run(invocation);
}

/** The messages of the last filter run of a document; of the last one at all when none is named or piped in. */
async function showLast({ arguments: given, environment, messages, input }: Invocation): Promise<number> {
  const [file = textOption(given, "name")] = given.positionals;
  const piped = file === undefined ? await pipedBeside(environment, input) : null;
  const key = file !== undefined && file !== "-"
    ? await documentKey(await knownPath(environment, file))
    : piped === null
    ? null
    : await messagesKey(parse(piped.bytes), null);
  const text = await lastMessages(environment, key);
  writeLines(text ?? "");
  if (text === null) {
    messages.note(`flemma: No filter run${key === null ? "" : " of this document"} said anything.`);
  }
  return Exit.ok;
}
