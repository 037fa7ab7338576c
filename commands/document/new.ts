// `flemma new`: a document to begin with.

import { thrownText } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { absolutePath } from "../../base/paths.ts";
import { createFile } from "../../cycle/storage/write.ts";
import type { Journal } from "../../cycle/types.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { textOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { messages, environment } = invocation;
  const file = invocation.arguments.positionals[0]!;
  const system = textOption(invocation.arguments, "system");
  const text = `${system === undefined ? "" : `@System:\n${system}\n\n`}@You:\n\n`;
  try {
    const path = await futurePath(absolutePath(environment, file));
    // Without the journal nothing could be done with the document, so it comes first.
    const journal = await openJournal({ environment, path });
    if (!journal.ok) return refuse(invocation, journal.problem);
    // The system takes from this mode what the person's umask takes.
    await createFile(path, new TextEncoder().encode(text), 0o666);
    const unrecorded = await remember(journal.value);
    if (unrecorded !== null) {
      messages.say(`flemma: ${file}: the document was made, but that cannot be noted: ${unrecorded}.`);
      return Exit.failure;
    }
  } catch (thrown) {
    const reason = thrown instanceof Deno.errors.AlreadyExists
      ? "there is such a file already; it was left alone."
      : thrown instanceof Deno.errors.NotFound
      ? "the folder does not exist."
      : `it cannot be made: ${thrownText(thrown)}.`;
    messages.say(`flemma: ${file}: ${reason}`);
    return Exit.failure;
  }
  messages.note(`Write what you want below @You: in ${file}, then: flemma advance ${operands(file)}`);
  return Exit.ok;
}

/** The real path that a file not made yet will have. */
async function futurePath(path: string): Promise<string> {
  const slash = path.lastIndexOf("/");
  const folder = await Deno.realPath(path.slice(0, slash) || "/");
  return `${folder === "/" ? "" : folder}/${path.slice(slash + 1)}`;
}

/** Notes that this machine made the document, so that its own settings are believed (S15). */
async function remember(journal: Journal): Promise<string | null> {
  try {
    await journal.recordWritten();
    return null;
  } catch (thrown) {
    return thrownText(thrown);
  }
}
