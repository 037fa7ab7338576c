// The tools of a run by name (tools 2).

import { isObject } from "../base/is_object.ts";
import { nearest } from "../base/nearest.ts";
import { failure, type Outcome, type Problem, success } from "../base/problem.ts";
import type { ToolDefinition } from "./definition.ts";
import { byBytes } from "../base/bytes.ts";

/** A definition as it is registered: the name may come from the call, the description may be left out. */
export type Registration = Partial<ToolDefinition> & Pick<ToolDefinition, "input_schema">;

/** Which tools are asked for. */
export interface GetAllOptions {
  /** Also those that are offered only when a document names them. @default false */
  readonly includeDisabled?: boolean;
}

/** Holds definitions; one entry takes single tools and batches. */
export class ToolRegistry {
  readonly #tools = new Map<string, ToolDefinition>();
  /** The object each tool was registered with: registering it again is no replacement. */
  readonly #origins = new WeakMap<ToolDefinition, Registration>();

  /**
   * Registers one tool under a name, one tool that names itself, or a batch of which either all or none are
   * taken. The value holds warnings: a replaced tool, a `strict` that had to be dropped. Fails with
   * `invalid-tool`, naming the tool.
   */
  register(name: string, definition: Registration): Outcome<readonly Problem[]>;
  /** Registers one tool that names itself. */
  register(definition: Registration): Outcome<readonly Problem[]>;
  /** Registers a batch, of which either all or none are taken. */
  register(definitions: readonly Registration[]): Outcome<readonly Problem[]>;
  register(
    first: string | Registration | readonly Registration[],
    second?: Registration,
  ): Outcome<readonly Problem[]> {
    if (typeof first === "string" && second === undefined) {
      return failure("invalid-tool", `The tool ${first} was registered without a definition.`);
    }
    const batch: readonly Registration[] = isList(first) ? first : [second ?? first as Registration];
    const warnings: Problem[] = [];
    const checked: { definition: ToolDefinition; origin: Registration }[] = [];
    for (const origin of batch) {
      const outcome = check(origin, typeof first === "string" ? first : origin.name, warnings);
      if (!outcome.ok) return outcome;
      checked.push({ definition: outcome.value, origin });
    }
    for (const { definition, origin } of checked) {
      const before = this.#tools.get(definition.name);
      if (before !== undefined && this.#origins.get(before) !== origin) {
        warnings.push({
          code: "tool-replaced",
          message: `The tool ${definition.name} was registered before; the new definition replaces it.`,
        });
      }
      this.#tools.set(definition.name, definition);
      this.#origins.set(definition, origin);
    }
    return success(warnings);
  }

  /** Takes a tool away; false when there was none. */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  /** The tool of that name. */
  get(name: string): ToolDefinition | undefined {
    return this.#tools.get(name);
  }

  /** Whether there is a tool of that name. */
  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** The tools a request may offer, ordered by the bytes of their names so that prompts stay the same. */
  getAll(options: GetAllOptions = {}): ToolDefinition[] {
    return [...this.#tools.values()]
      .filter((definition) => options.includeDisabled || definition.enabled !== false)
      .sort((a, b) => byBytes(a.name, b.name));
  }

  /** Number of tools. */
  count(): number {
    return this.#tools.size;
  }

  /** Takes all tools away. */
  clear(): void {
    this.#tools.clear();
  }

  /** Whether a tool has a capability; false when there is no such tool. */
  hasCapability(name: string, capability: string): boolean {
    return this.#tools.get(name)?.capabilities?.includes(capability) ?? false;
  }

  /** Whether the tool is registered and can run; a definition alone cannot. */
  isExecutable(name: string): boolean {
    const definition = this.#tools.get(name);
    return definition !== undefined && isExecutable(definition);
  }

  /** The registered name nearest to a mistyped one, or null when none is within three edits. */
  closestMatch(name: string): string | null {
    return nearest(name, [...this.#tools.keys()].sort(byBytes));
  }
}

/** Whether a definition can run at all. */
export function isExecutable(definition: ToolDefinition): boolean {
  return definition.execute !== undefined && definition.executable !== false;
}

function check(
  registration: Registration,
  name: string | undefined,
  warnings: Problem[],
): Outcome<ToolDefinition> {
  if (typeof name !== "string" || name === "") {
    return failure("invalid-tool", "A tool was registered without a name.", "Give its definition a name.");
  }
  if (name.includes(".")) {
    return failure(
      "invalid-tool",
      `The tool name ${name} holds a dot, which stands for a module.`,
      "Use a colon for a name space.",
    );
  }
  // A name is written between backticks in a header line; with these in it the call could not be read back.
  // deno-lint-ignore no-control-regex -- the range is what must not be in a name
  if (/[`\x00-\x1f\x7f]/.test(name)) {
    return failure(
      "invalid-tool",
      `The tool name ${JSON.stringify(name)} holds a backtick or a control character.`,
    );
  }
  if (!isObject(registration.input_schema)) {
    return failure(
      "invalid-tool",
      `The tool ${name} has no input schema.`,
      "Give its definition an input_schema.",
    );
  }
  const violation = registration.strict === true ? strictViolation(registration.input_schema, "") : null;
  if (violation !== null) {
    warnings.push({
      code: "tool-not-strict",
      message: `The tool ${name} asks for strict mode, but ${violation}; it is offered without.`,
      next:
        "List every property in required, set additionalProperties to false, make optional ones nullable.",
    });
  }
  return success({
    ...registration,
    name,
    description: registration.description ?? "",
    strict: violation === null ? registration.strict : undefined,
    // Definitions may be objects of a class: their methods are not copied and need their object.
    execute: registration.execute?.bind(registration),
    format_preview: registration.format_preview?.bind(registration),
  });
}

/** The first rule of strict mode that a schema breaks, as the end of a sentence; null when it keeps them. */
function strictViolation(schema: unknown, path: string): string | null {
  if (Array.isArray(schema)) {
    return firstOf(schema.map((item, index) => () => strictViolation(item, `${path}/${index}`)));
  }
  if (!isObject(schema)) return null;
  const where = path === "" ? "its schema" : `its schema at ${path}`;
  const { properties, required } = schema;
  if (isObject(properties) || schema.type === "object") {
    if (schema.additionalProperties !== false) return `${where} lacks additionalProperties: false`;
    const listed = Array.isArray(required) ? required : [];
    const missing = Object.keys(isObject(properties) ? properties : {}).find((name) =>
      !listed.includes(name)
    );
    if (missing !== undefined) return `${where} does not require ${missing}`;
  }
  const named = ["properties", "$defs", "definitions"].flatMap((member) => {
    const schemas = schema[member];
    return isObject(schemas)
      ? Object.entries(schemas).map(([name, inner]) => () =>
        strictViolation(inner, `${path}/${member}/${name}`)
      )
      : [];
  });
  const single = ["items", "anyOf", "oneOf", "allOf", "prefixItems"].map((member) => () =>
    strictViolation(schema[member], `${path}/${member}`)
  );
  return firstOf([...named, ...single]);
}

function firstOf(questions: readonly (() => string | null)[]): string | null {
  for (const question of questions) {
    const answer = question();
    if (answer !== null) return answer;
  }
  return null;
}

function isList(value: string | Registration | readonly Registration[]): value is readonly Registration[] {
  return Array.isArray(value);
}
