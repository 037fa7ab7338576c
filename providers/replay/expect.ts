// Checks a request against what a script expects, and describes what is missing.

import { isObject } from "../../base/is_object.ts";
import type { Expectation, ResultExpectation, TextExpectation } from "./script.ts";

/** The parts of a request body that a script can check. */
export interface RequestView {
  readonly system: string;
  /** Text of the last user message, without results. */
  readonly user: string;
  /** Text of the first user message. */
  readonly first: string;
  readonly results: ReadonlyMap<string, { readonly text: string; readonly isError: boolean }>;
  readonly tools: readonly string[];
}

/** Reads a decoded request body; missing parts are empty. */
export function viewRequest(body: unknown): RequestView {
  const request = isObject(body) ? body : {};
  const messages = list(request.messages).filter(isObject);
  const last = messages.findLast((message) => message.role === "user");
  const results = new Map<string, { text: string; isError: boolean }>();
  for (const block of messages.flatMap((message) => list(message.content)).filter(isObject)) {
    if (block.type !== "tool_result") continue;
    results.set(String(block.tool_use_id), { text: textOf(block.content), isError: block.is_error === true });
  }
  return {
    system: textOf(request.system),
    user: textOf(last?.content),
    first: textOf(messages.find((message) => message.role === "user")?.content),
    results,
    tools: list(request.tools).filter(isObject).map((tool) => String(tool.name)),
  };
}

/** Returns one sentence for each unmet expectation. */
export function findUnmet(expectation: Expectation, view: RequestView): readonly string[] {
  const { user, system, results = {}, tools = [] } = expectation;
  return [
    ...textProblems("the last user text", user, view.user),
    ...textProblems("the system prompt", system, view.system),
    ...Object.entries(results).flatMap(([id, expected]) => resultProblems(id, expected, view)),
    ...tools.filter((name) => !view.tools.includes(name))
      .map((name) => `the tool ${name} is not offered (offered: ${view.tools.join(", ") || "none"})`),
  ];
}

function resultProblems(id: string, expected: ResultExpectation, view: RequestView): readonly string[] {
  const result = view.results.get(id);
  if (result === undefined) {
    return [
      `the call ${id} has no result (results: ${[...view.results.keys()].join(", ") || "none"})`,
    ];
  }
  const problems = textProblems(`the result of ${id}`, expected, result.text);
  if (expected.is_error === undefined || expected.is_error === result.isError) return problems;
  return [
    ...problems,
    `the result of ${id} is ${result.isError ? "an error" : "not an error"}: ${excerpt(result.text)}`,
  ];
}

function textProblems(what: string, expected: TextExpectation | undefined, text: string): readonly string[] {
  if (expected === undefined) return [];
  const wanted = expected.contains === undefined ? [] : [expected.contains].flat();
  const problems = wanted.filter((piece) => !text.includes(piece))
    .map((piece) => `${what} does not contain ${JSON.stringify(piece)}: ${excerpt(text)}`);
  if (expected.equals === undefined || expected.equals === text) return problems;
  return [...problems, `${what} is not ${JSON.stringify(expected.equals)}: ${excerpt(text)}`];
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content).filter(isObject).map((block) => typeof block.text === "string" ? block.text : "").join(
    "",
  );
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
