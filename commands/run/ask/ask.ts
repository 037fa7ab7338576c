// `flemma ask`: asks one question from a shell, with piped input; only the answer goes to standard output.

import { compactAdvice } from "../../line/advice.ts";
import { newChat, textOfNewChat } from "../../../agent/conversation/new_chat.ts";
import { askNext, hasReferences, questionOf, referencesFrom } from "../../../agent/conversation/question.ts";
import { blocksOf } from "../../../agent/settings.ts";
import { lastReply } from "../../../agent/conversation/last_reply.ts";
import type { ChatSession, NewChatContent } from "../../../agent/types.ts";
import { nextNeed } from "../../../agent/views/next_need.ts";
import { isThere, realPathOrNull } from "../../../base/files.ts";
import { folderOfDocument } from "../../../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../../../base/problem.ts";
import { option } from "../../../base/shell_word.ts";
import { visible } from "../../../base/visible.ts";
import { BUILTIN_TOOLS } from "../../../config/rules/builtin_tools.generated.ts";
import { checkText } from "../../../cycle/storage/read.ts";
import { parse } from "../../../parser/mod.ts";
import type { Stop } from "../../../cycle/types.ts";
import { drive } from "../drive.ts";
import type { FinishedRun } from "../output.ts";
import type { CommandDocument } from "../../document/open.ts";
import { newInstructions } from "../../document/instructions.ts";
import { settingsFor } from "../../document/read.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { safeJson } from "../../io/safe_json.ts";
import { inputKind, writeOutput } from "../../io/streams.ts";
import { usageJson } from "../../io/usage_json.ts";
import { switchOption, textOption } from "../../line/options.ts";
import { suggestNextStep } from "../../line/next_steps.ts";
import { type AskedQuestion, askSettings, toolsOption } from "./ask_settings.ts";
import { keepLast, lastAsked, nextPlace } from "./ask_places.ts";
import { StreamedAnswer } from "./streamed_answer.ts";

export async function run(invocation: Invocation): Promise<number> {
  const question = readQuestion(invocation);
  if (!question.ok) return refuse(invocation, question.problem);
  const there = await existing(invocation);
  if (!there.ok) return refuse(invocation, there.problem);
  if (
    there.value === null && isEmpty(question.value) &&
    textOption(invocation.arguments, "prompt") === undefined
  ) {
    return refuse(invocation, nothingAsked().problem);
  }
  if (there.value !== null) {
    const file = there.value;
    return await answer(invocation, file, (document) => goOn(document, file, question.value, invocation));
  }
  const made = textOption(invocation.arguments, "prompt") === undefined
    ? await begin(invocation, question.value)
    : await (await import("./from_prompt.ts")).beginFromPrompt(invocation, question.value);
  if (!made.ok) return refuse(invocation, made.problem);
  return await answer(invocation, made.value, ({ session }) => session.advance());
}

function readQuestion({ arguments: given, input, messages }: Invocation): Outcome<AskedQuestion> {
  const words = given.positionals.join(" ").trim();
  const kind = inputKind();
  if (kind !== "stream" && kind !== "file") return success({ words, piped: "" });
  const { bytes, complete } = input.read();
  if (!complete) {
    return failure("document-too-large", "standard input: the text is larger than 512 MB, the maximum size.");
  }
  const refused = checkText(bytes, null);
  if (refused !== null) return { ok: false, problem: refused };
  const piped = new TextDecoder().decode(bytes);
  if (piped.trim() === "") {
    if (words !== "") messages.note("flemma: Standard input is empty, so only your question is sent.");
    return success({ words, piped: "" });
  }
  return success({ words, piped });
}

function isEmpty({ words, piped }: AskedQuestion): boolean {
  return words === "" && piped === "";
}

function nothingAsked(): { readonly ok: false; readonly problem: Problem } {
  return failure(
    "usage",
    "ask needs a question: TEXT, or text on standard input.",
    'Such as: flemma ask "Why?"',
  );
}

/** Returns the conversation to continue; null to begin a new one. */
async function existing({ arguments: given, environment }: Invocation): Promise<Outcome<string | null>> {
  const file = textOption(given, "file");
  const last = switchOption(given, "last") === true;
  if (last && file !== undefined) {
    return failure("usage", "--last and --file both name a conversation.", "Leave one of them out.");
  }
  const found: Outcome<string | null> = last
    ? await lastAsked(environment)
    : success(file !== undefined && isThere(file) ? file : null);
  if (!found.ok || found.value === null) return found;
  if (last && !isThere(found.value)) {
    return failure(
      "usage",
      `The last conversation no longer exists: ${found.value}.`,
      "Start a new one: leave out --last.",
    );
  }
  for (const name of ["system", "tools", "prompt"]) {
    if (textOption(given, name) !== undefined) {
      const message = `--${name} is only for a new conversation, and ${found.value} already exists.`;
      return failure("usage", message, "Leave it out, or change the document itself.");
    }
  }
  return found;
}

/** Creates the document of a new conversation and returns its path as commands name it. */
async function begin(invocation: Invocation, { words, piped }: AskedQuestion): Promise<Outcome<string>> {
  const { environment, arguments: given } = invocation;
  const loaded = await settingsFor(invocation, { path: null, ...blocksOf(null) });
  if (!loaded.ok) return loaded;
  const { settings } = loaded.value;
  const file = textOption(given, "file");
  const isOwn = file !== undefined;
  const tools = toolsOption(textOption(given, "tools"));
  const instructed = textOption(given, "system");
  const system = instructed !== undefined || isOwn || tools?.length === 0
    ? success(instructed)
    : await newInstructions(invocation, settings);
  if (!system.ok) return system;
  const content: NewChatContent = {
    settings: askSettings(settings, { folder: isOwn ? null : await Deno.realPath(environment.cwd), tools }),
    system: system.value,
    question: questionOf(isOwn ? words : referencesFrom(environment.cwd, words), piped),
  };
  const mistake = await mistakeIn(invocation, content, tools ?? []);
  if (mistake !== null) return { ok: false, problem: mistake };
  const place = isOwn ? success(file) : await nextPlace(environment, settings.ask.dir);
  if (!place.ok) return place;
  const made = await newChat(place.value, content, { environment });
  return made.ok ? success(place.value) : made;
}

/** Returns what is wrong in the options that the new document would keep; null if nothing is. */
async function mistakeIn(
  invocation: Invocation,
  content: NewChatContent,
  tools: readonly string[],
): Promise<Problem | null> {
  if (tools.length === 0) return null;
  const subject = { path: null, ...blocksOf(parse(textOfNewChat(content))) };
  const evaluated = await settingsFor(invocation, subject);
  if (!evaluated.ok) return evaluated.problem;
  const wrong = evaluated.value.diagnostics.find(({ severity }) => severity === "error");
  const next = "Correct --tools. The available tools: flemma tools list";
  if (wrong !== undefined) return { code: "usage", message: `--tools: ${wrong.message}`, next };
  const known = new Set(BUILTIN_TOOLS.map(({ name }) => name));
  if (!evaluated.value.loaded.catalog.open || tools.every((name) => known.has(name))) return null;
  // Tool files and servers may have the tool, so they are asked.
  const { toolViews } = await import("../../../agent/views/tools.ts");
  const views = await toolViews({
    environment: evaluated.value.environment,
    path: null,
    named: null,
    subject: evaluated.value,
    refresh: false,
    tell: () => {},
  });
  const unknown = views.ok
    ? tools.find((name) => !known.has(name) && !views.value.some((view) => view.name === name))
    : undefined;
  return unknown === undefined
    ? null
    : { code: "usage", message: `--tools: There is no tool ${unknown}.`, next };
}

/** Asks the question in an existing conversation. */
async function goOn(
  { session, file: name }: CommandDocument,
  file: string,
  { words, piped }: AskedQuestion,
  invocation: Invocation,
): Promise<Stop | { readonly exit: number }> {
  const { environment, arguments: given, messages } = invocation;
  const need = nextNeed(session.chat);
  if (need.kind === "decide" || need.kind === "look") {
    messages.say(
      `flemma: Nothing was sent, because calls in ${file} need you. ${suggestNextStep(session.chat, name)}`,
    );
    return { exit: Exit.person };
  }
  if (isEmpty({ words, piped })) {
    // A question that was written but not answered is sent again, for example after a key was missing.
    if (need.kind === "advance") return await session.advance();
    return { exit: refuse(invocation, nothingAsked().problem) };
  }
  if (!session.settings.templating.enabled && hasReferences(piped)) {
    return {
      exit: refuse(invocation, {
        code: "usage",
        message:
          "The question was not sent: the piped text contains paths that would attach files, and flemma can " +
          `escape them only if templates are enabled (templating.enabled in ${file}).`,
        next: "Ask in a new conversation: leave out --last and --file.",
      }),
    };
  }
  const own = textOption(given, "file") !== undefined;
  const asked = questionOf(own ? words : referencesFrom(environment.cwd, words), piped, {
    tags: session.settings.templating.enabled,
  });
  const edit = askNext(session.chat, asked);
  const problem: Problem | null = edit.ok ? await session.edit([edit.value]) : edit.problem;
  return problem === null ? await session.advance() : { exit: refuse(invocation, problem) };
}

async function answer(
  invocation: Invocation,
  file: string,
  act: Parameters<typeof drive>[1],
): Promise<number> {
  const { messages, arguments: given } = invocation;
  const json = switchOption(given, "json") === true;
  const quiet = switchOption(given, "quiet") === true;
  const streams = !json && Deno.stdout.isTerminal();
  const options = new Map([...given.options].filter(([name]) => name !== "json"));
  const run = { ...invocation, arguments: { ...given, positionals: [file], options } };
  const ended = ({ document: { session }, stop, exit, records }: FinishedRun): boolean => {
    const replied = stop.reason === "done" || stop.reason === "cut";
    const reply = replied ? lastReply(session.chat) : "";
    if (json) {
      const { reason, ids, problem } = stop;
      const document = session.path ?? file;
      writeOutput(
        `${safeJson({ document, reply, reason, exit, ids, problem, usage: usageJson(records) })}\n`,
      );
    } else if (!streams && reply !== "") writeOutput(`${reply}\n`);
    if (!replied) return false;
    const more = textOption(given, "file") === undefined ? "--last" : option("--file", file);
    const isFull = stop.reason === "cut" && stop.problem !== undefined;
    const next = isFull
      ? `Continue in a smaller document: ${compactAdvice(file)}`
      : `Continue with: flemma ask ${more} TEXT`;
    const ending = stop.reason === "cut" ? "The reply is incomplete." : stop.problem?.message ?? "";
    const where = `The conversation is in ${file}.${elsewhere(invocation, session)}`;
    messages.note(`flemma: ${`${ending} ${where}`.trimStart()} ${next}`);
    return true;
  };
  return await drive(run, async (document, emit) => {
    const { path } = document.session;
    const unkept = path === null ? null : await keepLast(invocation.environment, path);
    if (unkept !== null) messages.notice(unkept);
    return await act(document, emit);
  }, { ...(streams ? { display: new StreamedAnswer(messages, { quiet }) } : {}), ended });
}

/** Names the folder in which the tools of the conversation work, if it is not the current folder. */
function elsewhere(
  { environment }: Invocation,
  { settings, path }: Pick<ChatSession, "settings" | "path">,
): string {
  const folder = settings.cwd ?? (path === null ? environment.cwd : folderOfDocument(path));
  return folder === realPathOrNull(environment.cwd) ? "" : ` Its tools work in ${visible(folder)}.`;
}
