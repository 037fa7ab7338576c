// Reads the answers that a person wrote into the questions of a server, and checks them against the server's forms.

import { isObject } from "../../../base/is_object.ts";
import { failed, type Outcome, success } from "../../../base/problem.ts";
import { visible } from "../../../base/visible.ts";
import { checkInput } from "../../validate.ts";
import type {
  AnswerValue,
  AskedState,
  FieldSchema,
  FormSchema,
  ServerAnswer,
  ServerQuestion,
} from "./read.ts";

/** Answers by the server's keys. */
export type ServerAnswers = Readonly<Record<string, ServerAnswer>>;

/** Depth of the deepest answer: keys of questions, names of fields, items of a list. */
const MOST_DEPTH = 3;

/** Maximum number of problems that a sentence names. */
const MOST_PROBLEMS = 5;

/** Returns the answers in a text; fails with what the person has to correct, as the end of a sentence. */
export async function readAnswers(
  { questions }: Pick<AskedState, "questions">,
  text: string,
): Promise<Outcome<ServerAnswers, string>> {
  const read = await readYaml(text);
  if (!read.ok) return read;
  const all = Object.entries(questions);
  const forms = all.filter(([, { mode }]) => mode === "form");
  const isNested = all.length > 1;
  const problems: string[] = [];
  if (isNested || forms.length === 0) {
    const known = isNested ? forms.map(([key]) => key) : [];
    problems.push(...unknownNames(read.value, known));
  }
  const answers: [string, ServerAnswer][] = [];
  for (const [key, question] of all) {
    const written = isNested ? memberOf(read.value, key) ?? {} : read.value;
    const answer = await answerOf(question, written, isNested ? `${key}.` : "");
    problems.push(...answer.problems);
    answers.push([key, answer.answer]);
  }
  if (problems.length === 0) return success(Object.fromEntries(answers));
  return failed(`${problems.slice(0, MOST_PROBLEMS).map((problem) => visible(problem)).join("; ")}.`);
}

/** The same answer to every question: the person declined. */
export function declineAll({ questions }: Pick<AskedState, "questions">): ServerAnswers {
  return Object.fromEntries(Object.keys(questions).map((key) => [key, { action: "decline" } as const]));
}

async function answerOf(
  question: ServerQuestion,
  written: Value,
  prefix: string,
): Promise<{ readonly answer: ServerAnswer; readonly problems: readonly string[] }> {
  const answer = { action: "accept" } as const;
  if (question.mode === "url") return { answer, problems: [] };
  const { schema } = question;
  if (!isMapping(written)) {
    return { answer, problems: [`${prefix || "the text"} must be a mapping of names to answers`] };
  }
  const content: [string, AnswerValue][] = [];
  const problems = unknownNames(written, Object.keys(schema.properties)).map((problem) => prefix + problem);
  for (const [name, field] of Object.entries(schema.properties)) {
    const value = valueOf(memberOf(written, name), field);
    if (!value.ok) problems.push(`${prefix}${name}: ${value.problem}`);
    else if (value.value !== undefined) content.push([name, value.value]);
  }
  const given = Object.fromEntries(content);
  if (problems.length === 0) problems.push(...await schemaProblems(schema, given, prefix));
  return { answer: { ...answer, content: given }, problems };
}

async function schemaProblems(
  schema: FormSchema,
  content: Readonly<Record<string, unknown>>,
  prefix: string,
): Promise<string[]> {
  const missing = schema.required.filter((name) => !Object.hasOwn(content, name))
    .map((name) => `${prefix}${name}: is required`);
  const bySchema = await checkInput({ name: "form", input_schema: { ...schema, required: [] } }, content);
  const byFormat = Object.entries(content).flatMap(([name, value]) =>
    hasFormat(schema.properties[name]!, value)
      ? []
      : [`${prefix}${name}: must be ${FORMATS[String(schema.properties[name]!.format)]![0]}`]
  );
  return [...missing, ...bySchema.map((problem) => prefix + problem.replace(/^\//, "")), ...byFormat];
}

/** Formats that the protocol allows, in words and as checks. */
const FORMATS: Readonly<Record<string, readonly [words: string, check: (text: string) => boolean]>> = {
  email: ["an email address", (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  uri: ["an address such as https://example.com", (text) => URL.canParse(text)],
  date: ["a date such as 2026-01-31", (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !isNaN(Date.parse(text))],
  "date-time": [
    "a time such as 2026-01-31T12:00:00Z",
    (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(text) &&
      !isNaN(Date.parse(text)),
  ],
};

function hasFormat({ type, format }: FieldSchema, value: unknown): boolean {
  if (type !== "string" || typeof format !== "string" || !Object.hasOwn(FORMATS, format)) return true;
  return typeof value !== "string" || FORMATS[format]![1](value);
}

/** A value as written: every scalar is a text; `plain` if it has no quotes. */
type Value = Scalar | readonly Value[] | Mapping | undefined;

interface Scalar {
  readonly scalar: string;
  readonly plain: boolean;
}

interface Mapping {
  readonly [name: string]: Value;
}

function isSingle(value: Value): value is Scalar {
  return isObject(value) && typeof value.scalar === "string" && typeof value.plain === "boolean";
}

function isMapping(value: Value): value is Mapping {
  return isObject(value) && !isSingle(value as Value);
}

/**
 * Returns a value in the type of its field, undefined if the field is empty. A text is taken as it was written, so that
 * `007` stays a text.
 */
function valueOf(written: Value, { type }: FieldSchema): Outcome<AnswerValue | undefined, string> {
  if (
    written === undefined || isSingle(written) && written.plain && ["", "~", "null"].includes(written.scalar)
  ) {
    return success(undefined);
  }
  if (type === "array") {
    if (!Array.isArray(written)) return failed("must be a list, such as [a, b]");
    return written.every(isSingle)
      ? success(written.map(({ scalar }) => scalar))
      : failed("must be a list of texts");
  }
  if (!isSingle(written)) return failed("must be a single value");
  const { scalar } = written;
  switch (type) {
    case "string":
      return success(scalar);
    case "boolean":
      return /^(?:true|false)$/i.test(scalar) ? success(/^t/i.test(scalar)) : failed("must be true or false");
    default:
      return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(scalar)
        ? success(Number(scalar))
        : failed(`must be a ${type === "integer" ? "whole " : ""}number`);
  }
}

function memberOf(mapping: Mapping, name: string): Value {
  return Object.hasOwn(mapping, name) ? mapping[name] : undefined;
}

function unknownNames(written: Mapping, known: readonly string[]): string[] {
  return Object.keys(written).filter((name) => !known.includes(name))
    .map((name) => `${name}: is not asked for`);
}

async function readYaml(text: string): Promise<Outcome<Mapping, string>> {
  const { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } = await import("npm:yaml@2.9.1");
  const lines = new LineCounter();
  const document = parseDocument(text, { schema: "failsafe", prettyErrors: false, lineCounter: lines });
  const [fault] = document.errors.filter(({ message }) => !message.startsWith("Unresolved alias"));
  if (fault !== undefined) {
    const { line } = lines.linePos(fault.pos[0]);
    return failed(`line ${line} of the questions is not valid YAML: ${fault.message.split("\n", 1)[0]}.`);
  }
  let alias: number | null = null;
  const read = (node: unknown, depth: number): Value => {
    if (isAlias(node)) alias ??= lines.linePos(node.range?.[0] ?? 0).line;
    if (depth > MOST_DEPTH) return [];
    if (isScalar(node)) return { scalar: String(node.value ?? ""), plain: node.type === "PLAIN" };
    if (isSeq(node)) return node.items.map((item) => read(item, depth + 1));
    if (!isMap(node)) return undefined;
    return Object.fromEntries(
      node.items.map(({ key, value }) => [isScalar(key) ? String(key.value) : "", read(value, depth + 1)]),
    );
  };
  const root = document.contents === null ? {} : read(document.contents, 0);
  if (alias !== null) {
    return failed(`line ${alias} of the questions has an alias (*), which is not an answer.`);
  }
  if (isSingle(root) && root.plain && root.scalar === "") return success({});
  return root !== undefined && isMapping(root)
    ? success(root)
    : failed("the questions must be a mapping of names to answers.");
}
