// From words to an exit code: finds the command, loads only it, and sees to it that no way out loses a document.

import { type Environment, HomeUnknown, processEnvironment } from "../base/environment.ts";
import { mayBeThere } from "../base/files.ts";
import { stateRefusal } from "../base/folders.ts";
import { visible } from "../base/visible.ts";
import { runtimeRefusal, thrownText } from "../base/problem.ts";
import { readArguments, type UsageMistake } from "./line/arguments.ts";
import { Exit } from "./io/exit.ts";
import { helpFor, overview } from "./line/help.ts";
import type { Invocation } from "./invocation.ts";
import { MODULES } from "./load.ts";
import { Messages, placeOf } from "./io/messages.ts";
import { VERSION } from "./line/version.ts";
import { type Arguments, switchOption, textOption } from "./line/options.ts";
import {
  asOutputError,
  type Input,
  inputKind,
  passRestThrough,
  printPage,
  StandardInput,
  writeError,
  writeOutput,
} from "./io/streams.ts";

/** Makes a compiled program the helper of a run; nobody but the program itself says it (tools/files/file_helper.ts). */
export const HELPER_WORD = "--file-helper";

/** The oldest Deno that all of the program was tried with. */
export const OLDEST_DENO = "2.4.2";

/** Whether a version of Deno, such as `2.10.0`, is another one or a newer one. */
export function isAtLeast(version: string, other: string): boolean {
  const numbers = (text: string) => text.split(/[.+-]/).slice(0, 3).map(Number);
  const [ours, theirs] = [numbers(version), numbers(other)];
  const index = ours.findIndex((number, place) => number !== theirs[place]);
  return index < 0 || ours[index]! > theirs[index]!;
}

/** Runs the program; answers with its exit code and throws nothing. */
export async function main(words: readonly string[]): Promise<number> {
  if (words.length === 1 && words[0] === HELPER_WORD) {
    await (await import("../agent/tools.ts")).serveFiles();
    return Exit.ok;
  }
  const read = readArguments(words, looksLikeFile);
  switch (read.kind) {
    case "version":
      return printPage(`flemma ${VERSION}\n`);
    case "help": {
      const page = helpFor(read.topic);
      if (page !== null) return printPage(page);
      writeError(`flemma: There is no help about ${visible(read.topic)}.\n\n${overview()}`);
      return Exit.usage;
    }
    case "mistake":
      return await refuse(read.mistake, Exit.usage);
    case "bare":
    case "run": {
      const given = read.arguments;
      if (wantsDocument(given) && Deno.stdin.isTerminal()) {
        const bare = read.kind === "bare";
        const why = `${
          bare ? "Name" : `${given.command.name} needs`
        } a FILE, or a document on standard input.`;
        writeError(`flemma: ${why}\n\n${helpFor(bare ? "" : given.command.name)!}`);
        return Exit.usage;
      }
      return await start(given);
    }
  }
}

/** Runs the command, once it is clear where its document comes from. */
async function start(given: Arguments): Promise<number> {
  const { command, positionals } = given;
  if (!isAtLeast(Deno.version.deno, OLDEST_DENO)) {
    const message = `Deno ${OLDEST_DENO} or later is needed; this is ${Deno.version.deno}.`;
    return await refuse({ message, command, positionals }, Exit.failure);
  }
  const environment = environmentHere();
  if (typeof environment === "string") {
    return await refuse(
      { message: environment, command, positionals },
      Exit.failure,
    );
  }
  const [file] = given.positionals;
  if (given.command.kind !== "filter" || file === undefined || file === "-" || isReport(given)) {
    return await attempt(given, environment);
  }
  return await startBeside(given, file, environment);
}

/** The world of this process, or a sentence about a working folder that cannot be used. */
function environmentHere(): Environment | string {
  try {
    return processEnvironment();
  } catch (thrown) {
    if (thrown instanceof HomeUnknown) return thrown.message;
    const refusal = runtimeRefusal(thrown);
    if (refusal !== null) return `${refusal.message} ${refusal.next}`;
    return `The working folder cannot be used (${
      thrownText(thrown)
    }): it was deleted, or its name is not UTF-8. ` +
      "Change to another folder.";
  }
}

/** The variables of this process, none where the runtime does not let them be read. */
function variablesHere(): Record<string, string> {
  try {
    return Deno.env.toObject();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotCapable) return {};
    throw thrown;
  }
}

/** Whether a command that changes documents was asked to report about one only. */
function isReport(given: Arguments): boolean {
  return switchOption(given, "dry-run") === true;
}

/**
 * Runs a command whose first word is a file, or the id of a call in a piped document when no file has that name. A file
 * beside a piped document is a mistake, for which the document comes back.
 */
async function startBeside(given: Arguments, file: string, environment: Environment): Promise<number> {
  const { command, positionals } = given;
  const there = mayBeThere(file);
  const nothingThere = { message: `There is no file ${file}.`, command, positionals: ["-"] };
  const kind = inputKind();
  const input = new StandardInput();
  if (!there && command.takesTarget === true && !looksLikePath(file) && kind !== "terminal") {
    if (kind === "nothing" || input.read().bytes.length === 0) {
      return await refuse(nothingThere, Exit.usage, NO_INPUT);
    }
    return await attempt({ ...given, positionals: ["-", ...positionals] }, environment, input);
  }
  const { pipedBeside } = await import("./io/piped_document.ts");
  const piped = await pipedBeside(environment, input);
  if (piped === null) return await attempt(given, environment, input);
  const message = `${
    there ? "" : `${nothingThere.message} `
  }A filter takes no FILE: leave it out, or use --name FILE.`;
  return await refuse({ ...nothingThere, message }, Exit.usage, piped);
}

const NO_INPUT: Input = { bytes: new Uint8Array(0), complete: true };

async function attempt(
  given: Arguments,
  environment: Environment,
  input = new StandardInput(),
): Promise<number> {
  const filter = given.command.kind === "filter" && readsInput("filter", given.positionals);
  const quiet = switchOption(given, "quiet") === true;
  const place = placeOf(environment, {
    filter,
    chosen: textOption(given, "messages"),
    events: textOption(given, "events"),
  });
  const messages = new Messages(environment, { filter, quiet, place });
  const invocation: Invocation = { arguments: given, environment, messages, input };
  let code: number;
  try {
    const { run } = await MODULES[given.command.name]!();
    code = await run(invocation);
  } catch (thrown) {
    code = tellThrown(invocation, thrown, filter);
    if (filter && !input.taken) passRestThrough();
  }
  return closed(messages, code);
}

/** Says what ended a command, and with which exit code. */
function tellThrown({ messages, environment }: Invocation, thrown: unknown, filter: boolean): number {
  const output = asOutputError(thrown);
  const refusal = output === null ? runtimeRefusal(thrown) ?? stateRefusal(thrown, environment) : null;
  if (refusal !== null) {
    messages.say(`flemma: ${refusal.message}`);
    messages.say(`  ${refusal.next}`);
    return Exit.failure;
  }
  if (output === null) {
    messages.say(`flemma: This is a fault of the program: ${thrownText(thrown)}`);
    if (thrown instanceof Error && thrown.stack !== undefined) messages.note(thrown.stack);
    return Exit.failure;
  }
  // Whoever has seen enough of a report closes the pipe; a document that nobody took is another matter.
  if (output.readerGone && !filter) return Exit.readerGone;
  messages.say(`flemma: ${output.message}`);
  return Exit.failure;
}

function closed(messages: Messages, code: number): number {
  const fault = messages.close(code);
  if (fault === null) return code;
  // The journal was the last place; an exit code is all that is left to tell where nothing may be printed.
  if (messages.mayPrint) writeError(`flemma: ${fault}\n`);
  return code;
}

/** Says what is wrong with the command line. In filter mode the document comes back whole all the same. */
async function refuse(mistake: UsageMistake, exit: number, piped?: Input): Promise<number> {
  const here = environmentHere();
  // Only for messages.
  const environment = typeof here === "string" ? { cwd: "/", home: "/", variables: variablesHere() } : here;
  const isFilter = (mistake.command?.kind ?? "filter") === "filter" && inputKind() !== "terminal";
  if (isFilter && !readsInput("filter", mistake.positionals)) {
    const { pipedBeside } = await import("./io/piped_document.ts");
    piped ??= await pipedBeside(environment, new StandardInput()) ?? undefined;
  }
  const filter = isFilter && (piped !== undefined || readsInput("filter", mistake.positionals));
  const messages = new Messages(environment, {
    filter,
    quiet: false,
    place: placeOf(environment, { filter }),
  });
  if (filter) {
    try {
      const { bytes, complete } = piped ?? new StandardInput().read();
      writeOutput(bytes);
      if (!complete) passRestThrough();
    } catch (thrown) {
      messages.say(`flemma: ${thrownText(thrown)}`);
    }
  }
  const { suggestion } = await import("./line/suggestion.ts");
  messages.say(`flemma: ${mistake.message}${suggestion(mistake)}`);
  if (exit === Exit.usage) {
    messages.say(`  flemma ${mistake.command === null ? "" : `${mistake.command.name} `}--help tells more.`);
  }
  return closed(messages, exit);
}

/** Whether a document from standard input is all that is missing. */
export function wantsDocument({ command, positionals, options }: Arguments): boolean {
  if (command.options.some(({ name, standalone }) => standalone === true && options.has(name))) return false;
  return readsInput(command.kind, positionals);
}

/** Whether the document would come from standard input. */
export function readsInput(kind: "filter" | "report" | "none", positionals: readonly string[]): boolean {
  return kind !== "none" && (positionals.length === 0 || positionals[0] === "-");
}

/** Whether a first word that is no command is meant as a file: it exists, or it looks like a path. */
function looksLikeFile(word: string): boolean {
  return looksLikePath(word) || mayBeThere(word);
}

/** A dot or a slash makes a path, except in a sentence: words that end in a mark that names hardly end in. */
function looksLikePath(word: string): boolean {
  return /[./]/.test(word) && !/\s.*[?!]$/s.test(word);
}
