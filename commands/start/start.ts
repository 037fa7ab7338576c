// The first step of every run: prints the version itself, and loads the program for everything else.

import { mayBeThere } from "../../base/files.ts";
import { runtimeRefusal, thrownText } from "../../base/problem.ts";
import { takesErrors } from "../io/parent_editor.ts";
import { Exit } from "../io/exit.ts";
import { errorIsOutput, inputKind, passRestThrough, printPage, writeError } from "../io/streams.ts";
import { asksForVersion, VERSION } from "../line/version.ts";

/** The commands that may be used as filters. */
export const FILTERS: readonly string[] = ["advance", "approve", "reject", "execute", "send", "migrate"];

/** Runs the program; returns its exit code and never throws. */
export async function start(words: readonly string[]): Promise<number> {
  if (asksForVersion(words)) return printPage(`flemma ${VERSION}\n`);
  let program: typeof import("../main.ts");
  try {
    if (!("tryLock" in Deno.FsFile.prototype)) (await import("./older_runtime.ts")).completeRuntime();
    program = await import("../main.ts");
  } catch (thrown) {
    return notLoaded(words, thrown);
  }
  return await program.main(words);
}

/** Reports why the program cannot be loaded. A filter still outputs its input completely. */
function notLoaded(words: readonly string[], thrown: unknown): number {
  const { message, next } = runtimeRefusal(thrown) ??
    { message: `The program cannot be loaded: ${thrownText(thrown)}`, next: "Install flemma again." };
  let lost = "";
  const isFilter = mayBeFilter(words) && inputKind() !== "terminal";
  if (isFilter) {
    try {
      passRestThrough();
    } catch (thrown) {
      lost = `flemma: ${thrownText(thrown)}\n`;
    }
  }
  const mayPrint = !errorIsOutput() && !(isFilter && takesErrors());
  if (mayPrint) writeError(`${lost}flemma: ${message}\n  ${next}\n`);
  return Exit.failure;
}

/** True if a document may come from standard input, as far as visible without knowing the options. */
function mayBeFilter([first = "advance", ...others]: readonly string[]): boolean {
  if (FILTERS.includes(first)) return !others.some(mayBeThere);
  return first.startsWith("-") && !others.some(mayBeThere);
}
