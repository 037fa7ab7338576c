// `flemma ask -t NAME`: begins a conversation from a named prompt.

import { createChat } from "../../../agent/conversation/new_chat.ts";
import {
  fillPrompt,
  findPrompt,
  missingVariables,
  readPromptValues,
} from "../../../agent/conversation/named_prompt.ts";
import { askNext, questionOf, referencesFrom } from "../../../agent/conversation/question.ts";
import { blocksOf } from "../../../agent/settings.ts";
import { agree, agreeToWorkFolder, authorityIn } from "../../../agent/trust/agreement.ts";
import { failure, type Outcome, success } from "../../../base/problem.ts";
import { applyEdits } from "../../../parser/edits/edit.ts";
import { parse } from "../../../parser/mod.ts";
import { settingsFor } from "../../document/read.ts";
import type { Invocation } from "../../invocation.ts";
import { listOption, textOption } from "../../line/options.ts";
import { type AskedQuestion, askSettings, toolsOption } from "./ask_settings.ts";
import { nextPlace } from "./ask_places.ts";

/** Creates the document of a new conversation and returns its path as commands name it. */
export async function beginFromPrompt(
  invocation: Invocation,
  { words, piped }: AskedQuestion,
): Promise<Outcome<string>> {
  const { environment, arguments: given } = invocation;
  const name = textOption(given, "prompt") ?? "";
  const values = readPromptValues(listOption(given, "var"));
  if (!values.ok) return values;
  const prompt = await findPrompt(environment, name);
  if (!prompt.ok) return prompt;
  const loaded = await settingsFor(invocation, { path: null, ...blocksOf(null) });
  if (!loaded.ok) return loaded;
  const file = textOption(given, "file");
  const folder = file === undefined ? await Deno.realPath(environment.cwd) : null;
  const settings = askSettings(loaded.value.settings, {
    folder,
    tools: toolsOption(textOption(given, "tools")),
  });
  const filled = await fillPrompt(prompt.value, values.value, settings ?? {});
  if (!filled.ok) return filled;
  const chat = parse(filled.value);
  const evaluated = await settingsFor(invocation, { path: null, ...blocksOf(chat) });
  if (!evaluated.ok) return evaluated;
  const wrong = evaluated.value.diagnostics.find(({ severity }) => severity === "error");
  if (wrong !== undefined) return failure("usage", `The prompt ${name} cannot be used: ${wrong.message}`);
  const [missing] = missingVariables(filled.value, evaluated.value.variables);
  if (missing !== undefined) {
    return failure("usage", `The prompt ${name} needs the variable ${missing}.`, `Add: -v ${missing}=VALUE`);
  }
  const question = questionOf(file === undefined ? referencesFrom(environment.cwd, words) : words, piped);
  const asked = question === "" ? success(null) : askNext(chat, question);
  if (!asked.ok) return asked;
  const bytes = asked.value === null ? chat.bytes : applyEdits(chat.bytes, [asked.value]);
  const place = file === undefined
    ? await nextPlace(environment, loaded.value.settings.ask.dir)
    : success(file);
  if (!place.ok) return place;
  const authority = await authorityIn(evaluated.value, chat.frontmatter);
  const made = await createChat(place.value, bytes, environment, async (path) => {
    const inFolder = folder === null
      ? success(undefined)
      : await agreeToWorkFolder(environment, path, folder);
    return inFolder.ok ? await agree(environment, path, authority) : inFolder;
  });
  return made.ok ? success(place.value) : made;
}
