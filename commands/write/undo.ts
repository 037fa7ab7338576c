// `flemma undo`: restores files that tools changed, and lists the saved changes.

import {
  listSavedFiles,
  markReported,
  type SavedFile,
  undoChanges,
  type Undone,
} from "../../agent/undo/undo.ts";
import type { Session } from "../../agent/session.ts";
import type { ChatSession } from "../../agent/types.ts";
import { stateNotice } from "../../base/folders.ts";
import { helperFolderOf } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { visible } from "../../base/visible.ts";
import { addLine } from "../../parser/edits/turn.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Call, Chat } from "../../parser/types.ts";
import { helperNames } from "../document/helpers.ts";
import { withDocument } from "../document/open.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  if (invocation.arguments.positionals[0] === "-") {
    const message = "undo finds saved changes by the document's path, and a piped document has none.";
    return refuse(invocation, { code: "usage", message, next: "Name the file: flemma undo FILE" });
  }
  return await withDocument(invocation, {}, async ({ session, file, targets }) => {
    const { path, chat } = session;
    if (path === null) throw new Error("a document that was opened by its path has none");
    const { environment, arguments: given } = invocation;
    const kept = await listSavedFiles(environment, path);
    const commands = await commandTools(session);
    const runsCommands = ({ name }: Pick<Call, "name">) => commands.has(name);
    const meant = meantBy(targets, kept, { chat, runsCommands });
    if (!meant.ok && meant.problem.code === "nothing-kept" && file !== null) {
      return refuse(invocation, {
        ...meant.problem,
        next: `List the saved changes: flemma undo --list ${operands(file)}`,
      });
    }
    if (!meant.ok) return refuse(invocation, meant.problem);
    const listing = switchOption(given, "list") === true;
    const dryRun = listing || switchOption(given, "dry-run") === true;
    const outcomes = await undoChanges({
      environment,
      document: path,
      meant: meant.value,
      dryRun,
      report: (problem) => invocation.messages.notice(problem),
    });
    if (listing) {
      list(invocation, {
        outcomes,
        undone: kept.filter((change) => change.undone && meant.value(change)),
        commands: chat.calls.filter((call) => runsCommands(call) && mayHaveRun(session, call.id))
          .map(({ id }) => id),
      });
      if (targets.length === 0) await nameHelpers(invocation, path, file);
      return Exit.ok;
    }
    report(invocation, outcomes, dryRun);
    if (targets.length === 0) await nameHelpers(invocation, path, file);
    const back = outcomes.filter(({ change, outcome }) => outcome !== "kept" && change.after !== null);
    const problem = dryRun ? null : await note(session, invocation, {
      now: back.map(({ change }) => change),
      before: kept.toReversed().filter(({ undone, reported }) => undone && !reported),
    });
    if (problem !== null) return refuse(invocation, problem);
    return outcomes.some(({ outcome }) => outcome === "kept") ? Exit.failure : Exit.ok;
  });
}

/** Returns the names of the called tools that run commands. */
async function commandTools(session: ChatSession): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const name of new Set(session.chat.calls.map(({ name }) => name))) {
    if ((await session.tool(name))?.command_input !== undefined) found.add(name);
  }
  return found;
}

type Meant = (change: SavedFile) => boolean;

/** A document, and those of its calls that run commands. Changes of such commands to files are not saved. */
interface Calls {
  readonly chat: Chat;
  runsCommands(call: Pick<Call, "name">): boolean;
}

/** Returns the changes that the targets name: calls by id or its beginning, files by path. */
function meantBy(targets: readonly string[], kept: readonly SavedFile[], calls: Calls): Outcome<Meant> {
  const named: Meant[] = [];
  for (const target of targets) {
    const found = meantByOne(target, kept, calls);
    if (!found.ok) return found;
    named.push(found.value);
  }
  return success((change) => targets.length === 0 || named.some((isMeant) => isMeant(change)));
}

function meantByOne(
  target: string,
  kept: readonly SavedFile[],
  { chat, runsCommands }: Calls,
): Outcome<Meant> {
  const exact = (change: SavedFile) =>
    change.call === target || change.path === target || change.shownAs === target;
  if (kept.some(exact)) return success(exact);
  const ids = new Set(kept.map(({ call }) => call).filter((id) => id.startsWith(target)));
  if (ids.size === 1) return success(({ call }) => ids.has(call));
  if (ids.size > 1) {
    return failure(
      "target-ambiguous",
      `Several ids start with ${target}: ${[...ids].join(", ")}.`,
      "Name one in full.",
    );
  }
  const call = chat.call(target);
  return failure(
    "nothing-kept",
    call === undefined
      ? `No change is saved for a call or file named ${target}.`
      : `No change is saved for ${target}: ${
        runsCommands(call) ? "file changes by commands are not saved" : "it changed no file"
      }.`,
  );
}

/** Reports each change, newest first. */
function report(invocation: Invocation, outcomes: readonly Undone[], dryRun: boolean): void {
  const { messages, arguments: given } = invocation;
  if (switchOption(given, "json") === true) {
    writeOutput(`${safeJson(outcomes.map(asJson))}\n`);
    return;
  }
  for (const { change, outcome, why } of outcomes) {
    const what = visible(`${change.shownAs} (${change.tool}, ${change.call})`);
    if (outcome === "put-back") messages.note(`${dryRun ? "Would restore" : "Restored"} ${what}.`);
    else if (outcome === "already") messages.note(`${what} is already restored.`);
    else messages.say(`flemma: Not restored: ${what}: ${visible(why)}.`);
  }
  if (outcomes.length === 0) messages.note("There are no saved file changes to undo.");
}

/** Names the helpers whose changes of files stay: each helper's document keeps its own. */
async function nameHelpers(
  { environment, messages, arguments: given }: Invocation,
  path: string,
  file: string | null,
): Promise<void> {
  if (switchOption(given, "json") === true) return;
  const names: string[] = [];
  for (const name of helperNames(path)) {
    const kept = await listSavedFiles(environment, `${helperFolderOf(path)}/${name}.chat`);
    if (kept.some(({ undone }) => !undone)) names.push(name);
  }
  if (names.length === 0) return;
  const [document, ...more] = names.map((name) => operands(`${helperFolderOf(file ?? path)}/${name}.chat`));
  const others = more.length === 0 ? "" : `, and in the same way ${more.join(", ")}`;
  messages.note(visible(`Helpers changed files, too. To restore those: flemma undo ${document}${others}`));
}

interface PutBack {
  readonly now: readonly SavedFile[];
  /** Files restored by an earlier undo that was killed around the moment at which it noted this in the document. */
  readonly before: readonly SavedFile[];
}

/** Notes the restored files in the document: the model must not believe that its changes still apply. */
async function note(
  session: ChatSession,
  { environment, messages }: Invocation,
  { now, before }: PutBack,
): Promise<Problem | null> {
  const { chat } = session;
  const last = chat.turns.at(-1)?.place;
  const sentences = last === undefined
    ? []
    : chat.text(last.from, last.to).split("\n").filter((line) => line.startsWith(PUT_BACK));
  const unsaid = before.map(named).filter((name) => !sentences.some((line) => line.includes(` ${name}`)));
  const names = [...new Set([...unsaid, ...now.map(named)])];
  const problem = names.length === 0
    ? null
    : await session.edit([addLine(chat, `${PUT_BACK} ${names.join(", ")}.`)]);
  if (problem !== null) return problem;
  try {
    for (const change of [...before, ...now]) await markReported(change);
  } catch (thrown) {
    messages.notice(stateNotice(environment, thrown, "The next undo may report these files once more."));
  }
  return null;
}

/**
 * Names the file and the call. Both come from a model, and the person reads the line as text, so each is included only
 * if it consists of plain words. A path with `@` or braces would attach a file or run as a template.
 */
function named({ call, tool, shownAs }: SavedFile): string {
  const what = /^[\w.:-]+$/.test(call) ? `${call} (${tool})` : tool;
  return /^[\p{L}\p{N}_./ -]+$/u.test(shownAs) ? `${shownAs} in ${what}` : what;
}

const PUT_BACK = "I undid these file changes:";

interface Listing {
  readonly outcomes: readonly Undone[];
  readonly undone: readonly SavedFile[];
  /** Ids of the calls that ran commands. */
  readonly commands: readonly string[];
}

/** Lists all saved changes, newest first, and whether each can be undone. */
function list({ arguments: given, messages }: Invocation, { outcomes, undone, commands }: Listing): void {
  const rows = [
    ...outcomes.map((each) => ({ ...asJson(each), at: each.change.at })),
    ...undone.map((change) => ({ ...asJson({ change, outcome: "undone", why: "" }), at: change.at })),
  ].sort((a, b) => (a.at < b.at ? 1 : -1));
  if (switchOption(given, "json") === true) {
    writeOutput(`${safeJson({ changes: rows, commands })}\n`);
    return;
  }
  const width = Math.max(0, ...rows.map(({ path }) => path.length));
  for (const { at, tool, path, call, outcome, why } of rows) {
    const when = at.slice(0, 16).replace("T", " ");
    const state = outcome === "put-back" ? "can be restored" : outcome === "kept" ? why : STATES[outcome];
    writeOutput(visible(`${when}  ${tool.padEnd(5)}  ${path.padEnd(width)}  ${call}  ${state}`) + "\n");
  }
  if (rows.length === 0) messages.note("No file changes are saved.");
  if (commands.length > 0) {
    messages.note(`File changes by commands are not saved: ${visible(commands.join(", "))}.`);
  }
}

const STATES = { already: "already restored", undone: "restored" } as const;

/** False for calls without a result, and for those that were rejected or denied. */
function mayHaveRun(session: Pick<Session, "chat" | "hasRun">, id: string): boolean {
  const result = session.chat.result(id);
  if (result === undefined || isLifecycle(result.status)) return false;
  return result.status !== "error" || session.hasRun(id);
}

function asJson(
  { change, outcome, why }: Pick<Undone, "change" | "why"> & {
    readonly outcome: Undone["outcome"] | "undone";
  },
) {
  const { call, tool, shownAs, path, at, before } = change;
  return {
    call,
    tool,
    path: shownAs,
    file: path,
    at,
    made: before === null,
    outcome,
    ...(why === "" ? {} : { why }),
  };
}
