// Turns arguments into an exit code: finds and loads the command, and returns piped documents on every error.

import { type Environment, HomeUnknown, processEnvironment } from "../base/environment.ts";
import { mayBeThere } from "../base/files.ts";
import { absolutePath } from "../base/paths.ts";
import { stateRefusal } from "../base/folders.ts";
import { runtimeRefusal, thrownText } from "../base/problem.ts";
import { readArguments, type UsageMistake } from "./line/arguments.ts";
import { Exit } from "./io/exit.ts";
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

/**
 * Word that turns a compiled program into a run's file helper; only the program itself passes it
 * (tools/files/file_helper.ts).
 */
export const HELPER_WORD = "--file-helper";

/** The oldest Deno version that the whole program was tested with. */
export const OLDEST_DENO = "2.4.2";

/** True if `version`, such as `2.10.0`, is `other` or newer. */
export function isAtLeast(version: string, other: string): boolean {
  const numbers = (text: string) => text.split(/[.+-]/).slice(0, 3).map(Number);
  const [ours, theirs] = [numbers(version), numbers(other)];
  const index = ours.findIndex((number, place) => number !== theirs[place]);
  return index < 0 || ours[index]! > theirs[index]!;
}

/** Runs the program and returns its exit code; never throws. */
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
      const { helpFor, unknownTopic } = await import("./line/help.ts");
      const page = helpFor(read.topic);
      if (page !== null) return printPage(page);
      writeError(unknownTopic(read.topic));
      return Exit.usage;
    }
    case "mistake":
      return await refuse(read.mistake, Exit.usage);
    case "bare":
    case "run": {
      const given = read.arguments;
      if (wantsDocument(given) && Deno.stdin.isTerminal()) {
        const bare = read.kind === "bare";
        const { helpFor } = await import("./line/help.ts");
        const why = bare
          ? "Name a command or a FILE."
          : `${given.command.name} needs a FILE, or a document on standard input.`;
        writeError(`flemma: ${why}\n\n${helpFor(bare ? "" : given.command.name)!}`);
        return Exit.usage;
      }
      return await start(given);
    }
  }
}

/** Runs the command after checking the runtime, the environment and where the document comes from. */
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

/** Returns this process's environment, or a sentence about why the working folder or home cannot be used. */
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

/** Returns this process's environment variables; empty if the runtime denies reading them. */
function variablesHere(): Record<string, string> {
  try {
    return Deno.env.toObject();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotCapable) return {};
    throw thrown;
  }
}

/** True if a command that changes documents runs with --dry-run. */
function isReport(given: Arguments): boolean {
  return switchOption(given, "dry-run") === true;
}

/**
 * Runs a filter command whose first argument is a file or, if no such file exists, the id of a call in a piped
 * document. A file together with a piped document is a usage error. The piped document is then printed unchanged.
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
  const { readPipedInput } = await import("./io/piped_document.ts");
  const piped = await readPipedInput(environment, input);
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
  const target = textOption(given, "messages");
  if (target !== undefined && await namesArgument(target, given, environment)) {
    const message = `--messages ${target} names the document itself. Name another file for the messages.`;
    return await refuse({ ...given, message }, Exit.usage, filter ? input.read() : undefined);
  }
  const place = placeOf(environment, {
    filter,
    chosen: textOption(given, "messages"),
    events: textOption(given, "events"),
  });
  const isChosen = target !== undefined || textOption(given, "events") === "stderr";
  const messages = new Messages(environment, { filter, quiet, place, isChosen });
  const invocation: Invocation = { arguments: given, environment, messages, input };
  let code: number;
  try {
    const { run } = await MODULES[given.command.name]!();
    code = await run(invocation);
  } catch (thrown) {
    code = tellThrown(invocation, thrown, filter);
    if (filter && !input.taken) passRestThrough();
  }
  return closed(messages, code, { nothingCame: filter && input.isEmpty });
}

/** Whether a file for messages is one of the documents, under any of its names. */
async function namesArgument(target: string, given: Arguments, environment: Environment): Promise<boolean> {
  const { namesFile } = await import("./run/events.ts");
  const file = absolutePath(environment, target);
  const named = [textOption(given, "name"), ...given.positionals].filter((each) => each !== undefined);
  return named.some((each) => namesFile(file, absolutePath(environment, each)));
}

/** Reports what ended a command, and returns the exit code. */
function tellThrown({ messages, environment }: Invocation, thrown: unknown, filter: boolean): number {
  const output = asOutputError(thrown);
  const refusal = output === null ? runtimeRefusal(thrown) ?? stateRefusal(thrown, environment) : null;
  if (refusal !== null) {
    messages.say(`flemma: ${refusal.message}`);
    messages.say(`  ${refusal.next}`);
    return Exit.failure;
  }
  if (output === null) {
    messages.say(`flemma: Internal error: ${thrownText(thrown)}`);
    if (thrown instanceof Error && thrown.stack !== undefined) messages.note(thrown.stack);
    return Exit.failure;
  }
  // Readers of a report may close the pipe early. For a filter it is an error if its document was not read.
  if (output.readerGone && !filter) return Exit.readerGone;
  messages.say(`flemma: ${output.message}`);
  return Exit.failure;
}

function closed(messages: Messages, code: number, came: { readonly nothingCame?: boolean } = {}): number {
  const fault = messages.close(code, came);
  if (fault === null) return code;
  // Saving the messages failed. If nothing may be printed, only the exit code reports it.
  if (messages.mayPrint) writeError(`flemma: ${fault}\n`);
  return code;
}

/** Reports a usage error. A filter still returns its document completely. */
async function refuse(mistake: UsageMistake, exit: number, piped?: Input): Promise<number> {
  const here = environmentHere();
  // This environment is used for messages only.
  const environment = typeof here === "string" ? { cwd: "/", home: "/", variables: variablesHere() } : here;
  const isFilter = (mistake.command?.kind ?? "filter") === "filter" && inputKind() !== "terminal";
  if (isFilter && !readsInput("filter", mistake.positionals)) {
    const { readPipedInput } = await import("./io/piped_document.ts");
    piped ??= await readPipedInput(environment, new StandardInput()) ?? undefined;
  }
  const filter = isFilter && (piped !== undefined || readsInput("filter", mistake.positionals));
  const messages = new Messages(environment, {
    filter,
    quiet: false,
    place: placeOf(environment, { filter }),
  });
  let nothingCame = mistake.command === null;
  if (filter) {
    try {
      const { bytes, complete } = piped ?? new StandardInput().read();
      writeOutput(bytes);
      nothingCame ||= bytes.length === 0;
      if (!complete) passRestThrough();
    } catch (thrown) {
      messages.say(`flemma: ${thrownText(thrown)}`);
    }
  }
  const { suggestion } = await import("./line/suggestion.ts");
  messages.say(`flemma: ${mistake.message}${suggestion(mistake)}`);
  if (exit === Exit.usage) {
    const topic = mistake.group ?? mistake.command?.name;
    messages.say(`  Help: flemma ${topic === undefined ? "" : `${topic} `}--help`);
  }
  return closed(messages, exit, { nothingCame });
}

/** True if the command line is complete except for a document on standard input. */
export function wantsDocument({ command, positionals, options }: Arguments): boolean {
  if (command.options.some(({ name, standalone }) => standalone === true && options.has(name))) return false;
  return readsInput(command.kind, positionals);
}

/** True if the document comes from standard input. */
export function readsInput(kind: "filter" | "report" | "none", positionals: readonly string[]): boolean {
  return kind !== "none" && (positionals.length === 0 || positionals[0] === "-");
}

/** True if a first word that is not a command means a file, because it exists or looks like a path. */
function looksLikeFile(word: string): boolean {
  return looksLikePath(word) || mayBeThere(word);
}

/**
 * A word with a dot or slash is a path, unless the word is a sentence: a sentence has spaces and ends in `?` or `!`.
 */
function looksLikePath(word: string): boolean {
  return /[./]/.test(word) && !/\s.*[?!]$/s.test(word);
}
