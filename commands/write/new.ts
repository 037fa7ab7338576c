// `flemma new`: creates a document and, with --go, sends it.

import { newChat } from "../../agent/conversation/new_chat.ts";
import { blocksOf } from "../../agent/settings.ts";
import { configFolder } from "../../base/folders.ts";
import { expandHome } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { readDocument } from "../../cycle/storage/read.ts";
import { drive } from "../run/drive.ts";
import { settingsFor } from "../document/read.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { switchOption, textOption } from "../line/options.ts";

const INSTRUCTIONS = '{{ include("urn:flemma:personality:coding-assistant") }}';

export async function run(invocation: Invocation): Promise<number> {
  const { messages, environment, arguments: given } = invocation;
  const file = given.positionals[0]!;
  const question = textOption(given, "message");
  const goes = switchOption(given, "go") === true;
  const mistake = mistakeIn(invocation, question, goes);
  if (mistake !== null) return refuse(invocation, mistake);
  const system = await systemOf(invocation);
  if (!system.ok) return refuse(invocation, system.problem);
  const made = await newChat(file, { system: system.value ?? undefined, question }, { environment });
  if (!made.ok) return refuse(invocation, made.problem);
  if (goes) return await drive(invocation, ({ session }) => session.advance());
  messages.note(
    question === undefined
      ? `Write your message below @You: in ${file}, then: flemma advance ${operands(file)}`
      : `${file} contains your question. Send it with: flemma advance ${operands(file)}`,
  );
  return Exit.ok;
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
  const { environment, arguments: given } = invocation;
  const text = textOption(given, "system");
  if (text !== undefined) return success(text);
  if (switchOption(given, "bare") === true) return success(null);
  const loaded = await settingsFor(invocation, { path: null, ...blocksOf(null) });
  if (!loaded.ok) return loaded;
  const { system } = loaded.value.settings.new;
  if (system === null) return success(INSTRUCTIONS);
  if (!isPath(system)) return success(system);
  const path = expandHome(system, environment.home);
  const read = await readDocument(
    path.startsWith("/") ? path : `${configFolder(environment)}/${path}`,
    environment,
  );
  if (read.ok) return success(new TextDecoder().decode(read.value.bytes).trimEnd());
  return failure(
    "config-invalid",
    `The setting new.system names a file. ${read.problem.message}`,
    "Correct it, or set the text itself, starting with a word.",
  );
}

/** True if the setting is a path instead of the text itself. */
function isPath(system: string): boolean {
  return /^(?:\.{1,2}|~)?\/[^\n]*$/.test(system);
}
