// `flemma import`: a call of the Messages API in JavaScript, or its body as JSON, to a document.

import { isObject } from "../../../base/is_object.ts";
import { absolutePath } from "../../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { safeJson } from "../../io/safe_json.ts";
import { inputKind, writeData, writeOutput } from "../../io/streams.ts";
import { switchOption } from "../../line/options.ts";
import { documentOf } from "./request_text.ts";
import { LiteralFault, readLiteral } from "./literal.ts";

export async function run(invocation: Invocation): Promise<number> {
  const snippet = await snippetOf(invocation);
  if (!snippet.ok) return refuse(invocation, snippet.problem);
  const request = requestIn(snippet.value);
  if (!request.ok) return refuse(invocation, request.problem);
  const { text, leftOut } = documentOf(request.value);
  if (switchOption(invocation.arguments, "json") === true) {
    writeOutput(`${safeJson({ document: text, left_out: leftOut })}\n`);
    return Exit.ok;
  }
  writeData(text);
  for (const sentence of leftOut) invocation.messages.note(`flemma: ${sentence}`);
  return Exit.ok;
}

async function snippetOf({ arguments: given, environment, input }: Invocation): Promise<Outcome<string>> {
  const [file = "-"] = given.positionals;
  if (file === "-") {
    if (inputKind() !== "terminal") return success(new TextDecoder().decode(input.read().bytes));
    return failure(
      "usage",
      "There is no snippet.",
      "Name its file, or pipe it in: flemma import < snippet.js",
    );
  }
  try {
    return success(await Deno.readTextFile(absolutePath(environment, file)));
  } catch (thrown) {
    return thrown instanceof Deno.errors.NotFound
      ? failure("snippet-missing", `There is no file ${file}.`)
      : failure("snippet-unreadable", `${file} cannot be read: ${thrownText(thrown)}.`);
  }
}

/** The call whose argument is a request. */
const CALL = /\bmessages\s*\.\s*(?:create|stream|countTokens)\s*\(/;

/** The request in a snippet. */
export function requestIn(snippet: string): Outcome<Readonly<Record<string, unknown>>> {
  const call = CALL.exec(snippet);
  const from = call === null ? snippet.search(/\S/) : call.index + call[0].length;
  if (from < 0 || (call === null && snippet[from] !== "{")) {
    return failure(
      "snippet-unknown",
      "There is no call of messages.create in this.",
      "Give a snippet such as client.messages.create({ model, messages }), or its body as JSON.",
    );
  }
  try {
    const request = readLiteral(snippet, from);
    if (isObject(request) && Array.isArray(request.messages)) return success(request);
    return failure("snippet-unknown", "The call has no list of messages, so there is no conversation in it.");
  } catch (thrown) {
    if (!(thrown instanceof LiteralFault)) throw thrown;
    return failure(
      "snippet-code",
      `Line ${thrown.line} of the snippet cannot be read: ${thrown.message}.`,
      "Put the value itself there; the snippet is not run.",
    );
  }
}
