// `flemma hooks test`: runs the hooks before a call, without the call, and shows their answers.

import type { TestedHooks } from "../../agent/runtime/test_hooks.ts";
import { decidedBy } from "../../agent/review/decided_by.ts";
import { explanationJson } from "../../agent/views/explanation.ts";
import { hideSecrets } from "../../base/text/secrets.ts";
import { withDocument } from "../document/open.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";
import { DECISION_WORDS, exitOfDecisions } from "./decisions.ts";

/** Codes of notices that the report shows anyway. */
const SHOWN = ["hook-failed", "hook-says"];

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, messages } = invocation;
  const [file, target = ""] = given.positionals;
  if (file === "-") {
    return refuse(invocation, { code: "usage", message: "hooks test needs a FILE, not standard input." });
  }
  return await withDocument(invocation, {
    emit: (event) => {
      if (event.event !== "notice" || SHOWN.includes(event.code)) return;
      messages.notice({ code: event.code, message: event.message });
    },
  }, async ({ session, interrupts }) => {
    const tested = await session.testHooks(target);
    if (!tested.ok) return refuse(invocation, tested.problem);
    if (interrupts.received) return Exit.interrupted;
    const { explained, ran } = tested.value;
    if (switchOption(given, "json") === true) {
      writeOutput(`${safeJson({ ...explanationJson(explained), hooks: ran.map(answerJson) })}\n`);
    } else writeLines([...ran.flatMap(answerLines), decisionLine(tested.value)].join("\n") + "\n");
    if (ran.length === 0) {
      messages.note(
        explained.decision === "deny"
          ? "No hook ran, because the call is denied without them."
          : session.settings.hooks.enabled
          ? "No hook runs before this call. To list all of them: flemma hooks list"
          : "Hooks are disabled in the settings (hooks.enabled).",
      );
    }
    return exitOfDecisions([explained]);
  });
}

type RanHook = TestedHooks["ran"][number];

function answerJson(ran: RanHook) {
  const { name, command, file, place } = ran.hook;
  const hook = { name, command, file, place };
  if ("failed" in ran) {
    return { ...hook, decision: null, reason: "", context: "", notice: "", failed: hideSecrets(ran.failed) };
  }
  const { decision, reason, context, notice } = ran.answer;
  return {
    ...hook,
    decision,
    reason: hideSecrets(reason),
    context: hideSecrets(context),
    notice: hideSecrets(notice),
    failed: null,
  };
}

/** Returns the hook's decision and its name, and the texts that it adds. */
function answerLines(ran: RanHook): string[] {
  const { name, decision, reason, context, notice, failed } = answerJson(ran);
  const front = (word: string) => `${word.padEnd(7)}  ${name}`;
  if (failed !== null) return [`${front("failed")}   ${failed}`];
  const [first = "", ...more] = reason.split("\n");
  return [
    `${front(decision ?? "-")}${first === "" ? "" : `   ${first}`}`,
    ...more,
    ...(context === "" ? [] : [`for the model: ${context}`]),
    ...(notice === "" ? [] : [`for you: ${notice}`]),
  ].flatMap((line, at) => at === 0 ? [line] : line.split("\n").map((each) => `         ${each}`));
}

function decisionLine({ explained: { id, preview, decision, source, detail } }: TestedHooks): string {
  const why = detail ?? (source === "default" ? "no rule matches" : `by ${decidedBy(source)}`);
  return `${DECISION_WORDS[decision].padEnd(7)}  ${id}  ${preview}   ${why}`;
}
