// `flemma fork`: copies a conversation up to one of its turns to a new document.

import { makeDocument, movedText, nextForked } from "../../agent/conversation/derived_document.ts";
import { type Fork, forkChat } from "../../agent/conversation/forked.ts";
import { absolutePath } from "../../base/paths.ts";
import { parse } from "../../parser/mod.ts";
import { openForReport } from "../document/open.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";
import { formatCommand } from "../line/advice.ts";
import { numberOption, switchOption } from "../line/options.ts";
import { suggestNextStep } from "../line/next_steps.ts";
import { agreeAsBefore, notAFile } from "./derived_trust.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { environment, messages, arguments: given } = invocation;
  const [file = "-", named] = given.positionals;
  const fork = forkOf(invocation);
  if (file === "-") return refuse(invocation, notAFile("fork"));
  if (fork === null) {
    return refuse(invocation, {
      code: "usage",
      message: "--line and --turn cannot be combined.",
      next: "Leave one of them out.",
    });
  }
  // In other commands a plain number names a turn or a call. Here a number would name a file, although the person
  // probably means a turn.
  if (named !== undefined && /^\d+$/.test(named)) {
    return refuse(invocation, {
      code: "usage",
      message: `${named} is a name for the new document here, not a message number.`,
      next: `To fork up to your message ${named}: ${
        formatCommand("fork", file)
      } --turn ${named}. To use it as a name: ./${named}`,
    });
  }
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened.exit;
  await using session = opened.session;
  const { path } = session;
  if (path === null) throw new Error("a document that was opened by its path has none");
  const made = forkChat(session.chat, fork);
  if (!made.ok) return refuse(invocation, made.problem);
  const name = named ?? nextForked(environment, file);
  const target = absolutePath(environment, name);
  const bytes = movedText(made.value.bytes, path, target);
  const written = await makeDocument(name, target, bytes);
  if (!written.ok) return refuse(invocation, written.problem);
  const problem = await agreeAsBefore(invocation, session, name);
  if (problem !== null) messages.notice(problem);
  if (switchOption(given, "json") === true) {
    writeOutput(`${safeJson({ document: path, made: target, line: made.value.line })}\n`);
  } else {
    messages.note(
      `${name} contains ${file} up to line ${made.value.line}. ${suggestNextStep(parse(bytes), name)}`,
    );
  }
  return Exit.ok;
}

/** Returns where to fork; null if the options contradict each other. */
function forkOf({ arguments: given }: Invocation): Fork | null {
  const line = numberOption(given, "line");
  const turn = numberOption(given, "turn");
  if (line !== undefined && turn !== undefined) return null;
  if (line !== undefined) return { kind: "line", line };
  return turn === undefined ? { kind: "last" } : { kind: "turn", turn };
}
