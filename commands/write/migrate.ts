// `flemma migrate`: converts older forms of a document to the current format, or shows the changes.

import { migrate, type Migration, type OlderForm } from "../../parser/migrate.ts";
import type { Chat } from "../../parser/types.ts";
import { visible } from "../../base/visible.ts";
import type { Invocation } from "../invocation.ts";
import { withDocument } from "../document/open.ts";
import { readForReport } from "../document/read.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeData, writeOutput } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";
import { suggestNextStep } from "../line/next_steps.ts";

export async function run(invocation: Invocation): Promise<number> {
  if (switchOption(invocation.arguments, "dry-run") === true) return await show(invocation);
  const { messages } = invocation;
  return await withDocument(invocation, {}, async ({ session, label, file }) => {
    if (switchOption(invocation.arguments, "json") === true) {
      messages.say("flemma: --json needs --dry-run.");
      return Exit.usage;
    }
    const before = session.chat;
    const found = migrate(before);
    if (found.forms.length === 0) {
      messages.note(`flemma: ${label}: already in the current format.`);
      return Exit.ok;
    }
    const problem = await session.edit(found.edits);
    if (problem !== null) return refuse(invocation, problem);
    messages.note(`${label}: converted ${summaryOf(found.forms)} to the current format.`);
    for (const sentence of revived(before, session.chat)) messages.say(`flemma: ${sentence}`);
    messages.note(suggestNextStep(session.chat, file));
    return Exit.ok;
  });
}

/** Prints what would change. The document is only read. */
async function show(invocation: Invocation): Promise<number> {
  const { arguments: given, messages } = invocation;
  const read = await readForReport(invocation, given.positionals[0]);
  if ("exit" in read) return read.exit;
  const found = migrate(read.chat);
  const diff = await diffOf(read.label, read.chat, found);
  if (switchOption(given, "json") === true) {
    writeOutput(`${safeJson({ document: read.path, forms: found.forms, diff })}\n`);
  } else if (diff === null) {
    messages.note(`flemma: ${read.label}: already in the current format.`);
  } else {
    writeData(diff);
  }
  return Exit.ok;
}

async function diffOf(label: string, before: Chat, { chat }: Migration): Promise<string | null> {
  const [{ formatUnifiedDiff }, { splitLines }] = await Promise.all([
    import("../../agent/review/unified.ts"),
    import("../../cycle/storage/lines.ts"),
  ]);
  return formatUnifiedDiff(visible(label), splitLines(before.bytes), splitLines(chat.bytes));
}

function summaryOf(forms: readonly OlderForm[]): string {
  const count = (kind: OlderForm["kind"]) => forms.filter((form) => form.kind === kind).length;
  return [
    counted(count("marker"), "role marker"),
    counted(count("pending-fence"), "waiting result"),
    counted(count("tool-name"), "tool name"),
  ].filter((words) => words !== "").join(" and ");
}

function counted(number: number, noun: string): string {
  return number === 0 ? "" : `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/**
 * Lists calls that were plain text before the conversion and are approved after it, because the next run would execute
 * them.
 */
function revived(before: Chat, after: Chat): string[] {
  return after.results.flatMap(({ id, status, place }) =>
    status === "approved" && before.result(id)?.status !== "approved" && after.call(id) !== undefined
      ? [
        `The call ${visible(id)} (line ${place.start}) is approved in the text, so the next advance runs it.`,
      ]
      : []
  );
}
