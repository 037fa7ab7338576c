// The helpers of a recorded conversation: finds their documents, and what a call asked in them.

import { literalText } from "../../../agent/conversation/quoted.ts";
import type { Environment } from "../../../base/environment.ts";
import { isThere } from "../../../base/files.ts";
import { helperFolderOf } from "../../../base/paths.ts";
import { type Outcome, success } from "../../../base/problem.ts";
import { ASK_TOOL } from "../../../config/layers/presets.ts";
import { readDocument } from "../../../cycle/storage/read.ts";
import { parse } from "../../../parser/mod.ts";
import type { Call, Chat } from "../../../parser/types.ts";
import type { Recording } from "./recording.ts";

/** A document of a replay. */
export interface RecordedDocument {
  /** Real path. */
  readonly path: string;
  readonly chat: Chat;
}

/**
 * Finds the documents of helpers that the recorded results of a document name, and those of their helpers. Documents
 * that are missing, or that a link leads to, are left out. Fails if one cannot be read.
 */
export async function findRecordedHelpers(
  { path, chat }: RecordedDocument,
  environment: Environment,
): Promise<Outcome<readonly RecordedDocument[]>> {
  const found: RecordedDocument[] = [];
  const names = chat.calls.filter(({ name }) => name === ASK_TOOL)
    .flatMap(({ id }) => namedHelper(chat.result(id)?.content ?? "") ?? []);
  for (const name of new Set(names)) {
    const own = `${helperFolderOf(path)}/${name}.chat`;
    if (!isThere(own)) continue;
    const read = await readDocument(own, environment);
    if (!read.ok) return read;
    if (read.value.realPath !== own) continue;
    const helper = { path: own, chat: parse(read.value.bytes) };
    const more = await findRecordedHelpers(helper, environment);
    if (!more.ok) return more;
    found.push(helper, ...more.value);
  }
  return success(found);
}

/** Returns the name of the helper that the last line of a recorded result names; null if there is none. */
export function namedHelper(content: string): string | null {
  const last = content.trimEnd().split("\n").at(-1) ?? "";
  return /^Helper: ([a-z0-9-]{1,40}) \(\S.*\)$/.exec(last)?.[1] ?? null;
}

/** Returns the question of a call; empty if its input has none. */
export function questionOfCall({ input: { question } }: Call): string {
  return typeof question === "string" ? question : "";
}

/**
 * Returns the index of the step after the answer to a question in the document of a helper; null if the question is not
 * in it.
 *
 * @param from the number of steps that are replayed already
 */
export function endOfAnswer({ first, steps }: Recording, from: number, question: string): number | null {
  const isQuestion = (words: string) =>
    question.trim() !== "" &&
    [true, false].some((tags) => words.startsWith(literalText(question, { tags }).trim()));
  const asked = from === 0 && isQuestion(first)
    ? 0
    : steps.findIndex((step, at) => at >= from && step.do === "say" && isQuestion(step.text)) + 1;
  if (asked === 0 && !(from === 0 && isQuestion(first))) return null;
  const next = steps.findIndex((step, at) => at >= asked && step.do === "say");
  return next < 0 ? steps.length : next;
}
