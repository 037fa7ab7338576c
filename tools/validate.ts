// Validates the input of a call against its tool's schema before approval and execution.
//
// Built-in tools carry a generated validator. Other schemas need Ajv, which takes about 50 ms to load on first use.

import { isObject } from "../base/is_object.ts";
import { failure, type Outcome, success, thrownText } from "../base/problem.ts";
import { schemaExcess } from "./registration/schema_size.ts";
import type { InputValidator, JsonSchema, ToolDefinition, ToolInput } from "./definition.ts";

/** The part of a definition that validation needs. */
export type Checked = Pick<ToolDefinition, "name" | "input_schema" | "validate">;

/** An error as Ajv or its generated code reports it, with the members that this module reads. */
export interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** A compiled schema check: returns true or false, and leaves problems in `errors`. */
export interface SchemaCheck {
  (input: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}

/** Maximum number of problems in an error result. */
const MAX_PROBLEMS = 5;

const prepared = new WeakMap<JsonSchema, InputValidator>();

/** Wraps a compiled schema check as a definition's validator. */
export function inputValidator(check: SchemaCheck): InputValidator {
  return (input) => check(input) ? [] : describe(check.errors ?? []);
}

/**
 * Prepares the validator of a definition. Built-in tools and known schemas need nothing; otherwise Ajv is loaded and
 * the schema compiled. From then on previews also show inputs that do not fit. Fails with `invalid-tool-schema` if the
 * schema itself is invalid; such a tool must not run.
 */
export async function prepareValidator(definition: Checked): Promise<Outcome<InputValidator>> {
  const known = definition.validate ?? prepared.get(definition.input_schema);
  if (known !== undefined) return success(known);
  const excess = schemaExcess(definition.input_schema);
  if (excess !== null) return invalid(definition, excess);
  try {
    const { compileSchema } = await import("./registration/compile_schema.ts");
    const validator = boundedValidator(await compileSchema(definition.input_schema));
    prepared.set(definition.input_schema, validator);
    return success(validator);
  } catch (thrown) {
    return invalid(definition, thrownText(thrown));
  }
}

function invalid({ name }: Checked, reason: string): Outcome<never> {
  return failure(
    "invalid-tool-schema",
    `The input schema of the tool ${name} is invalid: ${reason}.`,
    "Correct input_schema in the tool's definition.",
  );
}

/** Reports a check that did not end as a problem of the input, because another input may fit. */
function boundedValidator(check: (input: unknown) => readonly SchemaError[]): InputValidator {
  return (input) => {
    try {
      return describe(check(input));
    } catch (thrown) {
      return [`/: cannot be checked against the input schema: ${thrownText(thrown)}`];
    }
  };
}

/**
 * Returns the problems of an input as `pointer: what is wrong`, at most five. An empty list means that the call may
 * run. Missing members that may be null count as null. An invalid schema is reported as the only problem.
 *
 * ```ts
 * import { checkInput } from "flemma/advanced";
 *
 * const tool = { name: "greet", input_schema: { type: "object", required: ["name"] } };
 * console.log(await checkInput(tool, {})); // ["/name: is missing"]
 * ```
 *
 * @param definition the tool
 * @param input what the model wrote
 * @returns the problems
 */
export async function checkInput(definition: Checked, input: ToolInput): Promise<readonly string[]> {
  const validator = await prepareValidator(definition);
  if (!validator.ok) return [validator.problem.message];
  return validator.value(completeInput(definition, input));
}

/** Returns the problems that `checkInput` would report, as far as they are known without loading anything. */
export function knownProblems(definition: Partial<Checked>, input: ToolInput): readonly string[] {
  const { input_schema } = definition;
  if (input_schema === undefined) return [];
  const validator = definition.validate ?? prepared.get(input_schema);
  return validator?.(completeInput({ input_schema }, input)) ?? [];
}

/**
 * Returns the input as the tool receives it: missing required members are null where the schema allows null. Returns
 * the same object if nothing is missing.
 */
export function completeInput(definition: Pick<ToolDefinition, "input_schema">, input: ToolInput): ToolInput {
  const { required, properties } = definition.input_schema;
  if (!Array.isArray(required) || !isObject(properties)) return input;
  const missing = required.filter((name): name is string =>
    typeof name === "string" && !Object.hasOwn(input, name) && admitsNull(properties[name])
  );
  if (missing.length === 0) return input;
  return { ...input, ...Object.fromEntries(missing.map((name) => [name, null])) };
}

function admitsNull(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, anyOf, oneOf } = schema;
  if (type === "null" || schema.const === null) return true;
  if (Array.isArray(type)) return type.includes("null");
  if (Array.isArray(schema.enum)) return schema.enum.includes(null);
  return [anyOf, oneOf].some((list) => Array.isArray(list) && list.some(admitsNull));
}

function describe(errors: readonly SchemaError[]): string[] {
  const lines = new Set<string>();
  for (const error of errors) {
    lines.add(`${pointer(error)}: ${sentence(error)}`);
    if (lines.size === MAX_PROBLEMS) break;
  }
  return [...lines];
}

/** JSON pointer of a problem; for a missing or unknown member, the pointer of that member. */
function pointer({ instancePath, params }: SchemaError): string {
  const member = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const path = typeof member === "string"
    ? `${instancePath}/${member.replaceAll("~", "~0").replaceAll("/", "~1")}`
    : instancePath;
  // A member name is text of the model and must not break the line.
  return path === "" ? "/" : path.replace(/[\r\n]+/g, " ");
}

/** Maximum number of allowed values, and of characters of each, in a sentence. */
const MOST_LISTED = 30;
const LONGEST_LISTED = 200;

function listed(values: readonly unknown[]): string {
  const first = values.slice(0, MOST_LISTED).map((value) => short(JSON.stringify(value)));
  return [...first, ...(values.length > MOST_LISTED ? [`and ${values.length - MOST_LISTED} more`] : [])].join(
    ", ",
  );
}

function short(text: string): string {
  return text.length > LONGEST_LISTED ? `${text.slice(0, LONGEST_LISTED)}…` : text;
}

function sentence({ keyword, params, message }: SchemaError): string {
  switch (keyword) {
    case "required":
      return "is missing";
    case "additionalProperties":
    case "unevaluatedProperties":
      return "is not a parameter of this tool";
    case "type":
      return `must be ${[params.type].flat().join(" or ")}`;
    case "enum":
      return `must be one of ${listed([params.allowedValues].flat())}`;
    case "const":
      return `must be ${short(JSON.stringify(params.allowedValue))}`;
    case "false schema":
      return "is not allowed";
    default:
      return short((message ?? `does not meet ${keyword}`).replace(/\s*\n\s*/g, " "));
  }
}
