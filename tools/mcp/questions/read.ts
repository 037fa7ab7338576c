// Reads what a server asks the person during a call (elicitation), and refuses what cannot be asked here.

import { isObject } from "../../../base/is_object.ts";
import { visible } from "../../../base/visible.ts";
import { failed, type Outcome, success } from "../../../base/problem.ts";
import type { JsonSchema } from "../../definition.ts";

/** One question of a server. */
export type ServerQuestion =
  /** A form; its answer is an object that fits the schema. */
  | { readonly mode: "form"; readonly message: string; readonly schema: FormSchema }
  /** A page that the person opens. */
  | { readonly mode: "url"; readonly message: string; readonly url: string };

/** The schema of a form: flat, with values that a person can type. */
export interface FormSchema extends JsonSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
}

/** The schema of one field. */
export type FieldSchema = JsonSchema & { readonly type: FieldType };

type FieldType = "string" | "number" | "integer" | "boolean" | "array";

/** An answer as the protocol has it. */
export interface ServerAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, AnswerValue>;
}

/** The value of one field. */
export type AnswerValue = string | number | boolean | string[];

/** What is kept until the person answers. */
export interface AskedState {
  /** Name of the server that asked. */
  readonly server: string;
  /** True if the server cannot wait, so that its tool is called again from the start. */
  readonly repeats: boolean;
  /** The questions that wait for an answer, by the server's keys. */
  readonly questions: Readonly<Record<string, ServerQuestion>>;
  /** What the server wants back unchanged; null if it wants nothing. */
  readonly requestState: string | null;
  /** Questions that the person answered before; a server that cannot wait asks them again. */
  readonly answered: readonly AnsweredQuestion[];
}

/** A question with its answer. */
export interface AnsweredQuestion {
  readonly question: ServerQuestion;
  readonly answer: ServerAnswer;
}

const FIELD_TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array"]);

/** Maximum number of questions, of fields in a form, and of characters of all questions together. */
const MOST_QUESTIONS = 20;
const MOST_FIELDS = 100;
const MOST_CHARACTERS = 100_000;
/** Maximum number of characters that a server wants back. */
const MOST_STATE = 1_000_000;

/** Words in the name of a field for a secret, in lower case with underscores between words. */
const SECRET = new RegExp(
  [
    "(?:^|_)(?:pass(?:word|wd|phrase|code)s?|pwd|secrets?|credentials?|otp|cvv|cvc)(?:_|$)",
    "(?:^|_)(?:api|access|private|secret|signing|encryption)_?keys?(?:_|$)",
    "(?:^|_)(?:access|api|auth|bearer|login|refresh|security|session)_?token(?:_|$)",
    "^(?:token|pin|pin_code)$",
  ].join("|"),
);

/** Reads the parameters of a question. A failure is the end of a sentence that begins with the server's name. */
export function readServerQuestion(params: unknown): Outcome<ServerQuestion, string> {
  if (!isObject(params)) return failed("asked you an unreadable question (elicitation)");
  const message = typeof params.message === "string" ? params.message : "";
  if (JSON.stringify(params).length > MOST_CHARACTERS) {
    return failed("asked you a question that is too long (elicitation)");
  }
  if (params.mode === "url") return readPage(message, params.url);
  if (params.mode !== undefined && params.mode !== "form") {
    return failed(
      `asked you a question of the unknown kind ${
        visible(JSON.stringify(params.mode).slice(0, 80))
      } (elicitation)`,
    );
  }
  return readForm(message, params.requestedSchema);
}

function readPage(message: string, url: unknown): Outcome<ServerQuestion, string> {
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol) || parsed.host === "") {
    return failed("asked you to open something that is not a web page (elicitation)");
  }
  // A name in front of the host could look like the host.
  if (parsed.username !== "" || parsed.password !== "") {
    return failed("asked you to open a page with a user name in its address (elicitation)");
  }
  return success({ mode: "url", message, url: parsed.href });
}

function readForm(message: string, schema: unknown): Outcome<ServerQuestion, string> {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const fields = Object.entries(properties);
  if (fields.length > MOST_FIELDS) return failed("asked you too many questions at once (elicitation)");
  for (const [name, field] of fields) {
    const shown = visible(JSON.stringify(name.slice(0, 80)));
    if (!isObject(field) || !FIELD_TYPES.has(field.type)) {
      return failed(`asked you for ${shown} in a form that flemma cannot show (elicitation)`);
    }
    if (isSecret(name, field)) {
      return failed(`asked you for a secret (${shown}) in a form, where it would stay in the document`);
    }
  }
  const required = isObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  return success({
    mode: "form",
    message,
    schema: {
      type: "object",
      properties: properties as Record<string, FieldSchema>,
      required: required.filter((name) => typeof name === "string" && Object.hasOwn(properties, name)),
    },
  });
}

/** True if the name or title of a field says that it is a secret. */
function isSecret(name: string, { title, format }: Record<string, unknown>): boolean {
  return format === "password" ||
    [name, title].some((words) => typeof words === "string" && SECRET.test(inWords(words)));
}

/** Returns a name in lower case with underscores between its words. */
function inWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(
    /^_|_$/g,
    "",
  );
}

/**
 * Reads the questions in a result; null if the result asks something else, or nothing. A failure is the end of a
 * sentence.
 */
export function questionsIn(
  result: unknown,
): Outcome<Pick<AskedState, "questions" | "requestState">, string> | null {
  if (!isObject(result) || result.resultType !== "input_required") return null;
  const requests = isObject(result.inputRequests) ? Object.entries(result.inputRequests) : [];
  const areAllQuestions = requests.every(([, request]) =>
    isObject(request) && request.method === "elicitation/create"
  );
  if (requests.length === 0 || !areAllQuestions) return null;
  if (requests.length > MOST_QUESTIONS) return failed("asked you too many questions at once (elicitation)");
  const questions: [string, ServerQuestion][] = [];
  for (const [key, request] of requests) {
    const question = readServerQuestion((request as Record<string, unknown>).params);
    if (!question.ok) return question;
    questions.push([key, question.value]);
  }
  const { requestState } = result;
  if (typeof requestState === "string" && requestState.length > MOST_STATE) {
    return failed("asked you a question with too much data (elicitation)");
  }
  return success({
    questions: Object.fromEntries(questions),
    requestState: typeof requestState === "string" ? requestState : null,
  });
}

/** Code of the error that a page must be opened before the call can run. */
const PAGE_NEEDED = -32042;

/** Reads the pages that the person has to open before a call can run; null if a call failed for another reason. */
export function pagesIn(thrown: unknown): Outcome<Omit<AskedState, "server">, string> | null {
  const { code, data } = (thrown ?? {}) as { readonly code?: unknown; readonly data?: unknown };
  if (code !== PAGE_NEEDED || !isObject(data) || !Array.isArray(data.elicitations)) return null;
  const inputRequests = data.elicitations.map((params) => ({ method: "elicitation/create", params }));
  const read = questionsIn({ resultType: "input_required", inputRequests: { ...inputRequests } });
  if (read === null || !read.ok) return read;
  return success({ ...read.value, repeats: true, answered: [] });
}

/** Reads what was kept; null if it is not readable, such as one of another version. */
export function readState(state: string): AskedState | null {
  try {
    const read: unknown = JSON.parse(state);
    return isAskedState(read) ? read : null;
  } catch {
    return null;
  }
}

function isAskedState(value: unknown): value is AskedState {
  return isObject(value) && typeof value.server === "string" && typeof value.repeats === "boolean" &&
    (value.requestState === null || typeof value.requestState === "string") &&
    isObject(value.questions) && Object.values(value.questions).every(isQuestion) &&
    Array.isArray(value.answered) &&
    value.answered.every((each) => isObject(each) && isQuestion(each.question) && isObject(each.answer));
}

/** True for a question as it is kept. */
function isQuestion(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { mode, message, url, schema } = value;
  return readServerQuestion({ mode, message, url, requestedSchema: schema }).ok &&
    (mode === "url" || (isObject(schema) && isObject(schema.properties) && Array.isArray(schema.required))) &&
    typeof value.message === "string" && typeof mode === "string";
}

/** True if two questions are the same, whatever the order of their members. */
export function isSameQuestion(a: ServerQuestion, b: ServerQuestion): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_, member) =>
      isObject(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0))
        : member,
  );
}
