// `flemma new`: a document to begin with.

import type { Environment } from "../config/environment.ts";
import { thrownText } from "../config/problem.ts";
import { openJournal } from "../cycle/session/journal.ts";
import { absolutePath } from "../cycle/session/paths.ts";
import { createFile } from "../cycle/session/write.ts";
import { Exit } from "./exit.ts";
import type { Invocation } from "./invocation.ts";
import { textOption } from "./options.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { messages, environment } = invocation;
  const file = invocation.arguments.positionals[0]!;
  const system = textOption(invocation.arguments, "system");
  const text = `${system === undefined ? "" : `@System:\n${system}\n\n`}@You:\n\n`;
  try {
    // The system takes from this mode what the person's umask takes.
    const path = absolutePath(environment, file);
    await createFile(path, new TextEncoder().encode(text), 0o666);
    await remember(environment, await Deno.realPath(path));
  } catch (thrown) {
    const reason = thrown instanceof Deno.errors.AlreadyExists
      ? "there is such a file already; it was left alone."
      : thrown instanceof Deno.errors.NotFound
      ? "the folder does not exist."
      : `it cannot be made: ${thrownText(thrown)}.`;
    messages.say(`flemma: ${file}: ${reason}`);
    return Exit.failure;
  }
  messages.note(`Write what you want below @You: in ${file}, then: flemma advance ${shellWord(file)}`);
  return Exit.ok;
}

/** Notes that this machine made the document, so that its own settings are believed (S15). */
async function remember(environment: Environment, path: string): Promise<void> {
  const journal = await openJournal({ environment, path });
  if (!journal.ok) throw new Error(journal.problem.message);
  await journal.value.recordWritten();
}

/** A word as a person would have to type it for a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
