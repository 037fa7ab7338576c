// `flemma import`: converts the JSON body of a Messages API request to a document.

import { isObject } from "../../../base/is_object.ts";
import { absolutePath } from "../../../base/paths.ts";
import { stateNotice } from "../../../base/folders.ts";
import { failure, type Outcome, problemLine, success, thrownText } from "../../../base/problem.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { safeJson } from "../../io/safe_json.ts";
import { inputKind, writeData, writeOutput } from "../../io/streams.ts";
import { switchOption } from "../../line/options.ts";
import { documentOf, type ImportedRequest } from "./request_text.ts";

/** Next step if a file with a request cannot be read. */
const NAME_FILE = "Name a file with the JSON of a request, or pipe it to: flemma import";

export async function run(invocation: Invocation): Promise<number> {
  const text = await textOf(invocation);
  if (!text.ok) return refuse(invocation, text.problem);
  const request = requestIn(text.value);
  if (!request.ok) return refuse(invocation, request.problem);
  const { environment } = invocation;
  const lost: string[] = [];
  const keep = async (payload: string) => {
    try {
      const { keepPayload } = await import("../../../cycle/memory/server_tools.ts");
      return await keepPayload(payload, environment);
    } catch (thrown) {
      const effect = "What a search of the request found cannot be kept, so only its visible lines are sent.";
      lost.push(problemLine(stateNotice(environment, thrown, effect)));
      return "";
    }
  };
  const converted = await documentOf(request.value, keep);
  const document = converted.text;
  const leftOut = [...converted.leftOut, ...new Set(lost)];
  if (switchOption(invocation.arguments, "json") === true) {
    writeOutput(`${safeJson({ document, left_out: leftOut })}\n`);
    return Exit.ok;
  }
  writeData(document);
  for (const sentence of leftOut) invocation.messages.note(`flemma: ${sentence}`);
  return Exit.ok;
}

async function textOf({ arguments: given, environment, input }: Invocation): Promise<Outcome<string>> {
  const [file = "-"] = given.positionals;
  if (file === "-") {
    if (inputKind() !== "terminal") return success(new TextDecoder().decode(input.read().bytes));
    return failure(
      "usage",
      "No request was given.",
      "Name its file, or pipe it in: flemma import < request.json",
    );
  }
  try {
    return success(await Deno.readTextFile(absolutePath(environment, file)));
  } catch (thrown) {
    return thrown instanceof Deno.errors.NotFound
      ? failure("request-missing", `There is no file ${file}.`, NAME_FILE)
      : failure("request-unreadable", `${file} cannot be read: ${thrownText(thrown)}.`, NAME_FILE);
  }
}

export function requestIn(text: string): Outcome<ImportedRequest> {
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch (thrown) {
    return failure(
      "request-unreadable",
      `This is not JSON: ${thrownText(thrown)}.`,
      "Print the request as JSON in your program, and import that: console.log(JSON.stringify(request))",
    );
  }
  if (isObject(request) && Array.isArray(request.messages)) {
    return success({ body: request, json: text });
  }
  return failure(
    "request-unknown",
    "This JSON has no list of messages.",
    'Pass the body of a request: {"model": …, "messages": […]}',
  );
}
