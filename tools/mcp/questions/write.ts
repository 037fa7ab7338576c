// Writes the questions of a server as YAML that a person edits. Nothing that the server wrote is more than a comment, a
// name or a quoted value.

import { visible, withoutHidden } from "../../../base/visible.ts";
import type { AskedState, FieldSchema, FormSchema, ServerQuestion } from "./read.ts";

/** Maximum number of lines and characters of a message, and of characters of a field's description. */
const MOST_LINES = 40;
const MOST_MESSAGE = 4000;
const MOST_DESCRIPTION = 300;
/** Maximum number of choices that are listed. */
const MOST_CHOICES = 50;

/** Answers by the server's keys and the names of fields. */
export type WrittenAnswers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Returns the questions as YAML.
 *
 * @param answers the answers. @default the server's defaults
 */
export function writeQuestions({ server, questions, repeats }: AskedState, answers?: WrittenAnswers): string {
  const all = Object.entries(questions);
  const lines = all.flatMap(([key, question], at) => [
    ...(at === 0 ? [] : [""]),
    ...(question.mode === "url" ? pageLines(server, question) : formLines(server, question, {
      indent: all.length === 1 ? "" : "  ",
      key: all.length === 1 ? null : key,
      given: answers === undefined ? null : Object.hasOwn(answers, key) ? answers[key]! : {},
    })),
  ]);
  return [
    ...lines,
    "",
    ...comment(
      "Set the block to approved to send this, or to rejected to decline." +
        (repeats ? " The server cannot wait, so approving calls the tool again from the start." : ""),
    ),
  ].join("\n");
}

/** Returns the sentence that says what a call waits for. */
export function askedSentence({ server, questions }: Pick<AskedState, "server" | "questions">): string {
  const [first] = Object.values(questions);
  const page = first?.mode === "url" ? ` to open a page of ${new URL(first.url).host}` : "";
  const words = visible((first?.message ?? "").replace(/\s+/g, " ").trim());
  const ending = words === "" ? "" : `: ${words.length > 200 ? `${words.slice(0, 200)}…` : words}`;
  return `The MCP server ${server} asks you${page}${ending}`;
}

function pageLines(server: string, { message, url }: ServerQuestion & { readonly mode: "url" }): string[] {
  return [
    ...comment(`The MCP server ${server} asks you to open a page of the host ${new URL(url).host}:`),
    ...quoted(message),
    ...comment(`  ${url}`),
    ...comment("flemma does not open it. Open it yourself if you trust the host, then answer here."),
  ];
}

function formLines(
  server: string,
  { message, schema }: ServerQuestion & { readonly mode: "form" },
  { indent, key, given }: {
    readonly indent: string;
    readonly key: string | null;
    readonly given: WrittenAnswers[string] | null;
  },
): string[] {
  const names = Object.keys(schema.properties);
  return [
    ...comment(`The MCP server ${server} asks you:`),
    ...quoted(message),
    ...(key === null ? [] : [names.length === 0 ? `${nameOf(key)}: {}` : `${nameOf(key)}:`]),
    ...names.flatMap((name) => ["", ...fieldLines(name, schema, given).map((line) => indent + line)]),
  ];
}

function fieldLines(
  name: string,
  { properties, required }: FormSchema,
  given: WrittenAnswers[string] | null,
): string[] {
  const field = properties[name]!;
  const { title, description } = field;
  const words = [title, description].filter((text) => typeof text === "string" && text !== "").join(": ");
  const kind = `(${[kindOf(field), ...(required.includes(name) ? ["required"] : [])].join(", ")})`;
  const answer = given === null ? field.default : Object.hasOwn(given, name) ? given[name] : undefined;
  const value = valueText(answer);
  return [
    ...comment(`${cut(words.replace(/\s+/g, " "), MOST_DESCRIPTION)} ${kind}`.trim()),
    ...choicesOf(field).slice(0, MOST_CHOICES).flatMap((choice) => comment(`  ${choice}`)),
    `${nameOf(name)}:${value === "" ? "" : ` ${value}`}`,
  ];
}

/** Returns the kind of a field's value in words. */
function kindOf(field: FieldSchema): string {
  const { type, format, minimum, maximum, minLength, maxLength, minItems, maxItems } = field;
  if (choicesOf(field).length > 0) {
    return type === "array"
      ? `any of these, as [a, b]${range(minItems, maxItems, " items")}`
      : "one of these";
  }
  switch (type) {
    case "integer":
      return `whole number${range(minimum, maximum)}`;
    case "number":
      return `number${range(minimum, maximum)}`;
    case "boolean":
      return "true or false";
    case "array":
      return `list, as [a, b]${range(minItems, maxItems, " items")}`;
    default:
      return `${typeof format === "string" ? FORMATS[format] ?? "text" : "text"}${
        range(minLength, maxLength, " characters")
      }`;
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  email: "email address",
  uri: "address of a page",
  date: "date as 2026-01-31",
  "date-time": "time as 2026-01-31T12:00:00Z",
};

function range(least: unknown, most: unknown, unit = ""): string {
  const [from, to] = [least, most].map((bound) => typeof bound === "number" ? bound : null);
  if (from === null && to === null) return "";
  if (to === null) return `, at least ${from}${unit}`;
  return from === null ? `, at most ${to}${unit}` : `, ${from} to ${to}${unit}`;
}

/** Returns the choices of a field, each with its title. */
function choicesOf({ type, items, ...field }: FieldSchema): string[] {
  const { enum: values, enumNames, oneOf, anyOf } = (type === "array" ? items ?? {} : field) as Record<
    string,
    unknown
  >;
  const titled = [oneOf, anyOf].find(Array.isArray) as readonly unknown[] | undefined;
  if (titled !== undefined) {
    return titled.map((choice) => {
      const { const: value, title } = (choice ?? {}) as Record<string, unknown>;
      return choiceText(value, title);
    });
  }
  if (!Array.isArray(values)) return [];
  const titles: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  return values.map((value, at) => choiceText(value, titles[at]));
}

function choiceText(value: unknown, title: unknown): string {
  const shown = jsonText(value);
  return typeof title === "string" && title !== "" && title !== value
    ? `${shown} (${cut(title, 80)})`
    : shown;
}

/** Returns the value of a field as YAML; empty if it has none. */
function valueText(value: unknown): string {
  if (value === undefined || value === null) return "";
  const isPlain = typeof value === "string" && /^[A-Za-z](?:[\w .-]*\w)?$/.test(value) && value !== "null";
  return isPlain ? value : jsonText(value);
}

/** A name as a YAML key. */
function nameOf(name: string): string {
  return /^[A-Za-z_][\w-]*$/.test(name) ? name : jsonText(name);
}

/** JSON, which is also YAML, on one line and without hidden characters. */
function jsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return withoutHidden(text, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""));
}

/** The server's own words, each line marked as such. */
function quoted(message: string): string[] {
  const lines = cut(message.trim(), MOST_MESSAGE).split(/\r\n|[\n\r\u2028\u2029]/);
  const shown = lines.slice(0, MOST_LINES);
  if (lines.length > MOST_LINES) shown.push(`… (${lines.length - MOST_LINES} more lines)`);
  return message.trim() === "" ? [] : shown.map((line) => `# > ${visible(line)}`.trimEnd());
}

function comment(text: string): string[] {
  return [`# ${visible(text)}`.trimEnd()];
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
