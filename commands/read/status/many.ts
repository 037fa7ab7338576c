// `flemma status`: reports on one document, on several in order, or on the pending calls of all.

import type { OpenCall } from "../../../agent/types.ts";
import { readForReport } from "../../document/read.ts";
import { run as statusOf } from "./status.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit, worstExit } from "../../io/exit.ts";
import { safeJson } from "../../io/safe_json.ts";
import { writeLines, writeOutput } from "../../io/streams.ts";
import { switchOption } from "../../line/options.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given } = invocation;
  if (switchOption(given, "pending") === true) return await showPending(invocation);
  if (given.positionals.length < 2 || switchOption(given, "last") === true) return await statusOf(invocation);
  const codes: number[] = [];
  for (const [at, file] of given.positionals.entries()) {
    if (switchOption(given, "json") !== true) {
      writeLines(`${at > 0 ? "\n" : ""}${file}:\n`);
    }
    codes.push(await statusOf(about(invocation, file)));
  }
  return worstExit(codes);
}

type Waiting =
  & { readonly document: string; readonly source: string }
  & Pick<OpenCall, "id" | "number" | "name" | "line" | "preview">;

/** Prints one line per call that waits for a person, over all documents. */
async function showPending(invocation: Invocation): Promise<number> {
  const { arguments: given, messages } = invocation;
  const asJson = switchOption(given, "json") === true;
  const files = given.positionals.length === 0 ? ["-"] : given.positionals;
  const codes: number[] = [];
  const all: Waiting[] = [];
  for (const document of files) {
    const waiting = await pendingIn(about(invocation, document), document);
    if ("exit" in waiting) codes.push(waiting.exit);
    else {
      for (const { id, number, name, line, preview, decided: { source } } of waiting) {
        all.push({ document, id, number, name, line, preview, source });
        if (!asJson) {
          writeLines(`${document}:${line}: ${preview}   #${number} ${id}\n`);
        }
      }
    }
  }
  if (asJson) writeOutput(`${safeJson(all)}\n`);
  else if (all.length === 0 && codes.length === 0) messages.note("No calls are waiting for you.");
  return codes.length === 0 ? Exit.ok : worstExit(codes);
}

/**
 * Returns the calls that wait for a person. A document without pending results is only read, without opening a
 * session.
 */
async function pendingIn(
  invocation: Invocation,
  file: string,
): Promise<readonly OpenCall[] | { readonly exit: number }> {
  const read = await readForReport(invocation, file);
  if ("exit" in read) return read;
  const { chat } = read;
  const mayWait = file === "-" ||
    chat.results.some(({ status }) => status === "pending" || status === "approved");
  if (!mayWait) return [];
  const { openAsRead } = await import("../../document/open.ts");
  const opened = await openAsRead(invocation, read);
  if ("exit" in opened) return opened;
  await using session = opened;
  // Text in the block of a call becomes its result, so such a call waits for nobody.
  return (await session.calls()).filter(({ status, hasText, doubt }) =>
    (status === "pending" && !hasText) || doubt !== null
  );
}

/** Returns the same command line for only one of its documents. */
function about(invocation: Invocation, file: string): Invocation {
  return { ...invocation, arguments: { ...invocation.arguments, positionals: [file] } };
}
