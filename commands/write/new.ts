// `flemma new`: creates a document and, with --go, sends it.

import { newChat, workFolderFor } from "../../agent/conversation/new_chat.ts";
import { blocksOf } from "../../agent/settings.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { drive } from "../run/drive.ts";
import { newInstructions } from "../document/instructions.ts";
import { settingsFor } from "../document/read.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { switchOption, textOption } from "../line/options.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { messages, environment, arguments: given } = invocation;
  const [named = ""] = given.positionals;
  const file = withEnding(named);
  const question = textOption(given, "message");
  const goes = switchOption(given, "go") === true;
  const mistake = mistakeIn(invocation, question, goes);
  if (mistake !== null) return refuse(invocation, mistake);
  const system = await systemOf(invocation);
  if (!system.ok) return refuse(invocation, system.problem);
  const cwd = workFolderFor(environment, file);
  const settings = cwd === undefined ? undefined : { cwd };
  const made = await newChat(file, { settings, system: system.value ?? undefined, question }, {
    environment,
  });
  if (!made.ok) return refuse(invocation, made.problem);
  if (file !== named) messages.note(`Created ${file}, because documents end in .chat.`);
  const run = { ...invocation, arguments: { ...given, positionals: [file] } };
  if (goes) return await drive(run, ({ session }) => session.advance(), { compacts: true });
  messages.note(
    question === undefined
      ? `Write your message below @You: in ${file}, then: flemma advance ${operands(file)}`
      : `${file} contains your question. Send it with: flemma advance ${operands(file)}`,
  );
  return Exit.ok;
}

/** Adds `.chat` to a name without an ending. */
function withEnding(file: string): string {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return name === "" || name.includes(".") ? file : `${file}.chat`;
}

/** Returns the usage error if options contradict each other; null if they do not. */
function mistakeIn(
  { arguments: given }: Invocation,
  question: string | undefined,
  goes: boolean,
): Problem | null {
  const usage = (message: string, next: string): Problem => ({ code: "usage", message, next });
  if (switchOption(given, "bare") === true && textOption(given, "system") !== undefined) {
    return usage("--bare and --system cannot be combined.", "Leave one of them out.");
  }
  if (goes && (question ?? "").trim() === "") {
    return usage("--go sends the first question, but there is none.", 'Add it: -m "TEXT"');
  }
  return null;
}

/** Returns the system message of the document; null for none. */
async function systemOf(invocation: Invocation): Promise<Outcome<string | null>> {
  const { arguments: given } = invocation;
  const text = textOption(given, "system");
  if (text !== undefined) return success(text);
  if (switchOption(given, "bare") === true) return success(null);
  const loaded = await settingsFor(invocation, { path: null, ...blocksOf(null) });
  if (!loaded.ok) return loaded;
  return await newInstructions(invocation, loaded.value.settings);
}
