// `flemma review`: decides about the calls of documents one by one at a terminal, each call shown in full.

import { openChat } from "../../agent/open.ts";
import type { OpenCall, OpenOptions } from "../../agent/types.ts";
import { mayBeThere, realPathOrNull } from "../../base/files.ts";
import { absolutePath, helperFolderOf } from "../../base/paths.ts";
import { settingsRule } from "../../agent/rules/settings_rule.ts";
import { failure, type Outcome, type Problem, problemLine, success } from "../../base/problem.ts";
import { visible } from "../../base/visible.ts";
import { hostOptions } from "../document/host.ts";
import type { Invocation } from "../invocation.ts";
import { Exit, exitOf } from "../io/exit.ts";
import { Interrupts } from "../io/interrupt.ts";
import { refuse } from "../io/refuse.ts";
import { formatCommand } from "../line/advice.ts";
import { ReviewController } from "./review/controller.ts";
import { Dialogue, type Ending } from "./review/dialogue.ts";
import { editText } from "./review/editor.ts";
import { ProcessTty } from "./review/tty.ts";

export async function run(invocation: Invocation): Promise<number> {
  const files = filesOf(invocation);
  if (!files.ok) return refuse(invocation, files.problem);
  const ending = await review(invocation, files.value);
  return "exit" in ending ? ending.exit : ended(invocation, ending, files.value);
}

/** Returns each document, followed by the documents of helpers in which its calls wait. */
async function withHelpers(
  { environment }: Invocation,
  files: readonly string[],
  opening: OpenOptions,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const file of files) {
    found.push(file);
    if (!existsHelper(absolutePath(environment, file))) continue;
    const opened = await openChat(file, { ...opening, readOnly: true });
    // The dialogue reports a document that cannot be opened.
    if (!opened.ok) continue;
    await using session = opened.value;
    found.push(...helperDocuments(await session.calls()).map((path) => shortPath(path, environment.cwd)));
  }
  return [...new Set(found)];
}

/** True if a document may have helpers, so that it is worth opening. */
function existsHelper(path: string): boolean {
  return mayBeThere(helperFolderOf(realPathOrNull(path) ?? path));
}

function helperDocuments(calls: readonly OpenCall[]): readonly string[] {
  return calls.flatMap(({ helper }) =>
    helper === null ? [] : [helper.path, ...helperDocuments(helper.calls)]
  );
}

function shortPath(path: string, folder: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

/** Asks about the calls of a document that runs again after that; returns the exit code, 0 to go on. */
export async function reviewInPlace(
  invocation: Invocation,
  file: string,
): Promise<number> {
  const ending = await review(invocation, [file], { asksAtEnd: false });
  if ("exit" in ending) return ending.exit;
  const { how, waiting, problems, decided } = ending;
  const goesOn = how === "done" && waiting === 0 && problems.length === 0 && decided;
  const exit = goesOn ? Exit.ok : ended(invocation, ending, [file]);
  return exit === Exit.ok && !goesOn ? Exit.person : exit;
}

/** Runs the dialogue; returns the exit code if the options are invalid. */
async function review(
  invocation: Invocation,
  files: readonly string[],
  options: ConstructorParameters<typeof Dialogue>[3] = {},
): Promise<Ending | { readonly exit: number }> {
  const { environment, messages } = invocation;
  const host = hostOptions(invocation);
  if (!host.ok) return { exit: refuse(invocation, host.problem) };
  const once = new Set<string>();
  const tell = (text: string) => {
    if (!once.has(text)) messages.note(`flemma: ${text}`);
    once.add(text);
  };
  let tty: ProcessTty | null = null;
  const interrupts = new Interrupts((fault, exit) => {
    tty?.close();
    if (fault !== null) messages.say(`flemma: Internal error: ${fault}`);
    messages.close(exit);
    return exit;
  });
  try {
    const opening = {
      ...host.value,
      emit: (event: { readonly event: string; readonly message?: string }) => {
        if (event.event === "notice" && event.message !== undefined) tell(event.message);
      },
      notify: (problem: Problem) => tell(problemLine(problem)),
    };
    const terminal = tty = new ProcessTty(environment.variables, interrupts.signal);
    const all = await withHelpers(invocation, files, opening);
    const controllers = all.map((file) => new ReviewController(file, opening));
    const dialogue = new Dialogue(terminal, controllers, {
      edit: async (text) => {
        let edited: Outcome<string | null> = success(null);
        await terminal.lend(async () => {
          edited = await editText(text, environment.variables);
        });
        return edited;
      },
      settingsRule: (rule) => settingsRule({ environment, settings: host.value.settings }, rule),
    }, options);
    return await dialogue.run();
  } finally {
    tty?.close();
    interrupts.dispose();
  }
}

/** The documents to review, each once. */
function filesOf({ arguments: { positionals } }: Invocation): Outcome<readonly string[]> {
  if (positionals.includes("-")) {
    return failure("usage", "review works on files, not on a piped document.");
  }
  if (Deno.stdin.isTerminal() && Deno.stdout.isTerminal()) return success([...new Set(positionals)]);
  const [file = "FILE"] = positionals;
  return failure(
    "usage",
    "review needs a terminal.",
    `Without one: ${formatCommand("status", file)}, then ${formatCommand("approve", file)} TARGET`,
  );
}

/** Reports the result and what to do next. */
function ended({ messages }: Invocation, ending: Ending, files: readonly string[]): number {
  const { how, approved, rejected, waiting, unasked, problems } = ending;
  const [file = ""] = files;
  for (const problem of problems) messages.problem(problem);
  const done = [
    ...(approved > 0 ? [`${approved} approved`] : []),
    ...(rejected > 0 ? [`${rejected} rejected`] : []),
    ...(waiting > 0 ? [waiting === 1 ? "1 still waits" : `${waiting} still wait`] : []),
  ];
  const advance = files.length === 1 ? formatCommand("advance", file) : "flemma advance FILE";
  if (done.length === 0 && problems.length === 0) {
    const names = visible(files.join(", "));
    messages.note(
      unasked > 0
        ? `${names}: no calls are waiting for you yet. ${advance} decides about ${
          unasked === 1 ? "1 call" : `${unasked} calls`
        }.`
        : `${names}: no calls are waiting for you.`,
    );
  } else if (done.length > 0) {
    const on = approved + rejected > 0 ? ` Nothing has run yet. Continue with: ${advance}` : "";
    messages.note(`${done.join(", ")}.${on}`);
  }
  if (how === "interrupted") return Exit.interrupted;
  const [problem] = problems;
  if (problem !== undefined) return exitOf(problem);
  return waiting > 0 ? Exit.person : Exit.ok;
}
