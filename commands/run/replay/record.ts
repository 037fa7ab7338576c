// `flemma replay record`: turns a conversation into a replay script with expectations for each request.

import { thrownText } from "../../../base/problem.ts";
import { visible, withoutHidden } from "../../../base/visible.ts";
import type { Expectation, ResultExpectation, ScriptedReply } from "../../../providers/replay/script.ts";
import { secretMask } from "../../../render/secrets.ts";
import { readForReport } from "../../document/read.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { writeOutput } from "../../io/streams.ts";
import { hasMatcher } from "./compare.ts";
import { type RecordedStep, recordingOf } from "./recording.ts";

export async function run(invocation: Invocation): Promise<number> {
  const [file = "-"] = invocation.arguments.positionals;
  const read = await readForReport(invocation, file);
  if ("exit" in read) return read.exit;
  const { steps } = recordingOf(read.chat);
  if (steps.length === 0) {
    return refuse(invocation, {
      code: "nothing-to-replay",
      message: `${file} has no reply yet, so there is nothing to record.`,
      next: "Get a reply first, with flemma advance.",
    });
  }
  let text: string;
  try {
    text = await yamlOf({ replies: scriptOf(steps) });
  } catch (thrown) {
    return refuse(invocation, {
      code: "replay-script",
      message: `The script cannot be written: ${thrownText(thrown)}.`,
    });
  }
  const masked: string[] = [];
  const clean = secretMask().mask(text, ({ name }) => masked.push(name));
  if (masked.length > 0) {
    invocation.messages.note(
      `flemma: Removed, because they look like secrets: ${[...new Set(masked)].join(", ")}.`,
    );
  }
  writeOutput(
    `# The model's replies in ${visible(file)}. To replay them, see docs/reference/replay.md.\n${clean}`,
  );
  return Exit.ok;
}

/**
 * Formats a value as YAML. Characters that hide or reorder text or act on a terminal are escaped: people
 * review the script, and other YAML readers refuse raw control characters. Throws the errors of `yaml`.
 */
async function yamlOf(value: unknown): Promise<string> {
  const { Document, visit } = await import("npm:yaml@2.9.1");
  const document = new Document(value);
  visit(document, {
    Scalar(_, node) {
      // YAML reads escapes only in double quotes.
      if (typeof node.value === "string" && hidesSomething(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return withoutHidden(document.toString({ lineWidth: 0 }), escaped, { lines: true });
}

function hidesSomething(text: string): boolean {
  return visible(text, { lines: true }) !== text;
}

function escaped(character: string): string {
  return `\\U${character.codePointAt(0)!.toString(16).padStart(8, "0")}`;
}

/** Returns each reply with what its request must contain: the last user text and the results of the calls before it. */
function scriptOf(steps: readonly RecordedStep[]): readonly ScriptedReply[] {
  const replies: ScriptedReply[] = [];
  let results: Record<string, ResultExpectation> = {};
  let userText: string | null = null;
  for (const step of steps) {
    if (step.do === "say") userText = isLiteral(step.text) ? step.text : null;
    else if (step.do === "result") {
      const { id, content, isError } = step.result;
      const text = content.trim();
      results[id] = { contains: text === "" || hasMatcher(text) ? [] : [text], is_error: isError };
    } else {
      const expect: Expectation = {
        ...(userText === null ? {} : { user: { contains: userText } }),
        ...(Object.keys(results).length === 0 ? {} : { results }),
      };
      replies.push({ ...(Object.keys(expect).length === 0 ? {} : { expect }), reply: step.blocks });
      results = {};
      userText = null;
    }
  }
  return replies;
}

/** True if a text is sent unchanged. Template tags and file references are not: other text replaces them. */
function isLiteral(text: string): boolean {
  return !/\{[{%]/.test(text) && !/(?:^|\s)@[.~/]/.test(text);
}
