// `flemma git merge-driver`: called by git for each conversation that both sides of a merge changed.

import { rewriteFile } from "../../../base/files.ts";
import { absolutePath } from "../../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { mergeTurns } from "./merge_turns.ts";

/** Characters of a mark that git asks for, where it says so. */
const USUAL_SIZE = 7;

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: { positionals }, environment, messages } = invocation;
  const [base = "", ours = "", theirs = "", size = "", path = ours] = positionals;
  const texts = await Promise.all(
    [base, ours, theirs].map((file) => textOf(absolutePath(environment, file))),
  );
  const [before, mine, other] = texts;
  if (before?.ok !== true || mine?.ok !== true || other?.ok !== true) {
    const wrong = texts.find((text) => !text.ok);
    // Git takes any failure for a conflict, and keeps all three versions.
    return wrong?.ok === false ? refuse(invocation, wrong.problem) : Exit.failure;
  }
  const merged = mergeTurns(before.value, mine.value, other.value, Number(size) || USUAL_SIZE);
  try {
    // Git gives its file another name each time.
    await rewriteFile(absolutePath(environment, ours), merged.text, ".flemma-merge.");
  } catch (thrown) {
    return refuse(invocation, {
      code: "write-failed",
      message: `The merged conversation cannot be written: ${thrownText(thrown)}.`,
    });
  }
  if (!merged.conflict) return Exit.ok;
  messages.say(
    `flemma: ${path}: both sides changed the same messages; keep what is right and delete the marks.`,
  );
  return Exit.failure;
}

async function textOf(path: string): Promise<Outcome<string>> {
  try {
    const bytes = await Deno.readFile(path);
    return success(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (thrown) {
    return failure("document-unreadable", `${path} cannot be read as a conversation: ${thrownText(thrown)}.`);
  }
}
