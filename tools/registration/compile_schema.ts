// Compiles an input schema to a check that ends: it counts its steps, and its expressions run in linear time.
//
// Untrusted servers write schemas and models write input. References can make a small schema take exponential time.

import type { JsonSchema } from "../definition.ts";

/** An error as Ajv reports it, with the members that flemma reads. */
interface CompiledError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** Maximum cost of one check. The cost of a step is the size of the function that it runs in, in units. */
const MOST_COST = 2_000_000;
/** Characters of compiled code that count as one unit. */
const UNIT = 200;

/** Counts the steps of a check. */
class StepCounter {
  #left = MOST_COST;

  reset(): void {
    this.#left = MOST_COST;
  }

  /** Throws if the check takes too long. */
  spend(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) throw new Error("the check takes too long");
  }
}

/**
 * Compiles a schema. Throws if it is invalid.
 *
 * @returns a function that returns the errors of an input. It throws if the check takes too many steps, or exceeds the
 * stack.
 */
export async function compileSchema(
  { $async: _, ...given }: JsonSchema,
): Promise<(input: unknown) => readonly CompiledError[]> {
  const expressions = holdsPatterns(given) ? await (await import("./patterns.ts")).loadExpressions() : null;
  const schema = expressions?.readable(given) ?? given;
  const options = {
    strict: false,
    allErrors: true,
    validateSchema: false,
    meta: false,
    validateFormats: false,
    allowUnionTypes: true,
    ownProperties: true,
    logger: false,
    code: { process: withSteps, ...(expressions === null ? {} : { regExp: expressions.engine }) },
  } as const;
  const ajv = usesDraft7(schema)
    // Older drafts allow `items` to be a list, which Ajv's class for the newer draft rejects.
    ? new (namesOf(await import("npm:ajv@8.20.0")).Ajv)(options)
    : new (namesOf(await import("npm:ajv@8.20.0/dist/2020.js")).Ajv2020)(options);
  const steps = new StepCounter();
  // Compiled code reaches this object by the name `self`.
  Object.assign(ajv, { steps });
  const check = ajv.compile(schema);
  return (input) => {
    steps.reset();
    return check(input) ? [] : (check.errors ?? []) as readonly CompiledError[];
  };
}

/** Matches texts, the beginning of each function and loop, and the copying of errors, in compiled code. */
const STEPS =
  /"(?:[^"\\]|\\.)*"|\bfor\s*\([^)"]*\)\s*\{|\bfunction validate\d+\([^)]*\)\s*\{|\bvErrors\.concat\(/g;

/** Adds a count to each function, loop and copy of errors in compiled code. */
function withSteps(code: string): string {
  const cost = Math.ceil(code.length / UNIT);
  return code.replaceAll(STEPS, (match) => {
    if (match.startsWith('"')) return match;
    return match.startsWith("vErrors")
      ? "(self.steps.spend(vErrors.length), vErrors).concat("
      : `${match}self.steps.spend(${cost});`;
  });
}

/** True if a schema contains regular expressions, for text or for member names. */
function holdsPatterns(schema: JsonSchema): boolean {
  return /"pattern(?:Properties)?":/.test(JSON.stringify(schema));
}

function usesDraft7(schema: JsonSchema): boolean {
  return typeof schema.$schema === "string" && /draft-0[4-7]/.test(schema.$schema);
}

/**
 * Returns the exports of a package. In the compiled program a package of this kind is a separate file with only a
 * default export.
 */
function namesOf<Package extends object>(loaded: Package): Package {
  const { default: whole } = loaded as { readonly default?: Package };
  return Object.keys(loaded).length === 1 && whole !== undefined ? whole : loaded;
}
