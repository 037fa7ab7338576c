// `flemma git merge-driver`: git calls this command for each conversation that both sides of a merge changed.

import { rewriteFile } from "../../../base/files.ts";
import { absolutePath } from "../../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { mergeTurns } from "./merge_turns.ts";

/** Length of a conflict marker unless git says otherwise. */
const USUAL_SIZE = 7;

/** The highest exit code of `git merge-file` that counts conflicts. */
const MOST_CONFLICTS = 127;

/** The exit code by which git learns that the driver failed, so that one side is not taken for a merge with conflicts. */
const NOT_MERGED = 129;

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: { positionals }, environment, messages } = invocation;
  const [base = "", ours = "", theirs = "", size = "", path = ours] = positionals;
  const texts = await Promise.all(
    [base, ours, theirs].map((file) => textOf(absolutePath(environment, file))),
  );
  const [before, mine, other] = texts;
  if (before?.ok !== true || mine?.ok !== true || other?.ok !== true) {
    const wrong = texts.find((text) => !text.ok);
    if (wrong?.ok === false) refuse(invocation, wrong.problem);
    return await mergeLines({ base, ours, theirs, size });
  }
  const merged = mergeTurns(before.value, mine.value, other.value, Number(size) || USUAL_SIZE);
  try {
    // Git passes a temporary file with a new name each time.
    await rewriteFile(absolutePath(environment, ours), merged.text, ".flemma-merge.");
  } catch (thrown) {
    refuse(invocation, {
      code: "write-failed",
      message: `The merged conversation cannot be written: ${thrownText(thrown)}.`,
    });
    return NOT_MERGED;
  }
  if (!merged.conflict) return Exit.ok;
  messages.say(
    `flemma: ${path}: Both sides changed the same messages. Keep the right text and delete the conflict markers.`,
  );
  return Exit.failure;
}

interface Versions {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  readonly size: string;
}

/**
 * Merges line by line, as git does without a driver, if a version is not readable text. A driver that only failed
 * would leave one side in the file, without markers for the other side. Returns the exit code that git expects.
 */
async function mergeLines({ base, ours, theirs, size }: Versions): Promise<number> {
  const { code, signal } = await new Deno.Command("git", {
    args: ["merge-file", `--marker-size=${Number(size) || USUAL_SIZE}`, "--", ours, base, theirs],
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).output();
  // The code is the number of conflicts, at most 127; a higher one is an error, after which no text was written.
  if (signal !== null || code > MOST_CONFLICTS) return NOT_MERGED;
  return code === 0 ? Exit.ok : Exit.failure;
}

async function textOf(path: string): Promise<Outcome<string>> {
  try {
    const bytes = await Deno.readFile(path);
    return success(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (thrown) {
    return failure("document-unreadable", `${path} cannot be read as a conversation: ${thrownText(thrown)}.`);
  }
}
