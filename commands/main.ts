// From words to an exit code: finds the command, loads only it, and sees to it that no way out loses a document.

import { processEnvironment } from "../base/environment.ts";
import { thrownText } from "../base/problem.ts";
import { readArguments, type UsageMistake } from "./line/arguments.ts";
import { Exit } from "./io/exit.ts";
import { helpFor, overview } from "./line/help.ts";
import type { Invocation } from "./invocation.ts";
import { type Arguments, switchOption } from "./line/options.ts";
import { OutputError, passRestThrough, readInput, writeError, writeOutput } from "./io/streams.ts";

/** Runs the program; answers with its exit code and throws nothing. */
export async function main(words: readonly string[]): Promise<number> {
  const read = readArguments(words, looksLikeFile);
  switch (read.kind) {
    case "version": {
      const { VERSION } = await import("./version.ts");
      return print(`flemma ${VERSION}\n`);
    }
    case "help": {
      const page = helpFor(read.topic);
      if (page !== null) return print(page);
      const { visible } = await import("../base/visible.ts");
      writeError(`flemma: There is no help about ${visible(read.topic)}.\n\n${overview()}`);
      return Exit.usage;
    }
    case "mistake":
      return await refuse(read.mistake);
    case "bare":
    case "run": {
      const given = read.arguments;
      if (wantsDocument(given) && Deno.stdin.isTerminal()) {
        writeError(helpFor(read.kind === "bare" ? "" : given.command.name)!);
        return Exit.usage;
      }
      const { Messages } = await import("./io/messages.ts");
      const environment = processEnvironment();
      const filter = given.command.kind === "filter" && readsInput("filter", given.positionals);
      const quiet = switchOption(given, "quiet") === true;
      const messages = new Messages(environment, { filter, quiet });
      return await attempt({ arguments: given, environment, messages });
    }
  }
}

/** Prints a page that stands for itself. */
function print(page: string): number {
  try {
    writeOutput(page);
    return Exit.ok;
  } catch (thrown) {
    writeError(`flemma: ${thrownText(thrown)}\n`);
    return Exit.failure;
  }
}

async function attempt(invocation: Invocation): Promise<number> {
  const { messages } = invocation;
  let code: number;
  try {
    const { MODULES } = await import("./load.ts");
    const { run } = await MODULES[invocation.arguments.command.name]!();
    code = await run(invocation);
  } catch (thrown) {
    if (thrown instanceof OutputError) {
      messages.say(`flemma: ${thrown.message}`);
    } else {
      messages.say(`flemma: This is a fault of the program: ${thrownText(thrown)}`);
      if (thrown instanceof Error && thrown.stack !== undefined) messages.note(thrown.stack);
    }
    code = Exit.failure;
  }
  try {
    messages.close();
  } catch (thrown) {
    // The journal was the last place; an exit code is all that is left to tell.
    if (messages.printable) writeError(`flemma: ${thrownText(thrown)}\n`);
    return code === Exit.ok ? Exit.failure : code;
  }
  return code;
}

/** Says what is wrong with the command line. In filter mode the document comes back whole all the same (cli 3.1). */
async function refuse(mistake: UsageMistake): Promise<number> {
  const kind = mistake.command?.kind ?? "filter";
  const filter = kind === "filter" && readsInput("filter", mistake.positionals) && !Deno.stdin.isTerminal();
  const { Messages } = await import("./io/messages.ts");
  const messages = new Messages(processEnvironment(), { filter, quiet: false });
  if (filter) {
    try {
      const { bytes, complete } = readInput();
      writeOutput(bytes);
      if (!complete) passRestThrough();
    } catch (thrown) {
      messages.say(`flemma: ${thrownText(thrown)}`);
    }
  }
  messages.say(`flemma: ${mistake.message}${await suggestion(mistake)}`);
  messages.say(`  flemma ${mistake.command === null ? "" : `${mistake.command.name} `}--help tells more.`);
  try {
    messages.close();
  } catch (thrown) {
    if (messages.printable) writeError(`flemma: ${thrownText(thrown)}\n`);
  }
  return Exit.usage;
}

async function suggestion({ unknown }: UsageMistake): Promise<string> {
  if (unknown === undefined) return "";
  const { nearest } = await import("../base/nearest.ts");
  // Dashes are no part of the name: with them every short option looks like every other.
  const bare = (word: string) => word.replace(/^-+/, "");
  const word = bare(unknown.word);
  const near = nearest(word, unknown.known.map(bare), Math.min(3, Math.floor(word.length / 2)));
  const found = unknown.known.find((word) => bare(word) === near);
  return found === undefined ? "" : ` Did you mean ${found}?`;
}

/** Whether a document from standard input is all that is missing. */
export function wantsDocument({ command, positionals, options }: Arguments): boolean {
  if (command.options.some(({ name, standalone }) => standalone === true && options.has(name))) return false;
  return readsInput(command.kind, positionals);
}

/** Whether the document would come from standard input (cli section 2). */
export function readsInput(kind: "filter" | "report" | "none", positionals: readonly string[]): boolean {
  return kind !== "none" && (positionals.length === 0 || positionals[0] === "-");
}

/** Whether a first word that is no command is meant as a file: it exists, or it looks like a path. */
function looksLikeFile(word: string): boolean {
  if (/[./]/.test(word)) return true;
  try {
    Deno.statSync(word);
    return true;
  } catch {
    return false;
  }
}
