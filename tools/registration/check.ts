// Validates a definition at registration: its name, its schema, and the rules of strict mode.

import { isObject } from "../../base/is_object.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import {
  knownCapability,
  type RegisteredTool,
  type Registration,
  SANDBOX_CAPABILITY,
  type ToolOrigin,
} from "../definition.ts";
import { schemaExcess } from "./schema_size.ts";

/**
 * Returns the definition as it is stored. Fails with `invalid-tool`, naming the tool.
 *
 * @param registration the definition as registered
 * @param name the name it is registered under
 * @param origin who registers it, which decides which rights it may declare
 * @param warnings receives a warning for a `strict` that had to be dropped
 * @param file absolute path of the module that registers it
 */
export function checkDefinition(
  registration: Registration,
  name: string | undefined,
  origin: ToolOrigin,
  warnings: Problem[],
  file: string | null = null,
): Outcome<RegisteredTool> {
  if (typeof name !== "string" || name === "") {
    return failure("invalid-tool", "A tool was registered without a name.", "Give its definition a name.");
  }
  // The part after a colon is the name that an MCP server gave its tool.
  if (origin !== "built-in" && name.split(":", 1)[0]!.includes(".")) {
    return failure(
      "invalid-tool",
      `The tool name ${name} contains a dot, which marks a module.`,
      "Use a colon to separate a namespace.",
    );
  }
  // Names are written between backticks in a header line; a name with one of these characters could not be read back.
  // deno-lint-ignore no-control-regex -- the range is what must not be in a name
  if (/[`\x00-\x1f\x7f]/.test(name)) {
    return failure(
      "invalid-tool",
      `The tool name ${JSON.stringify(name)} contains a backtick or a control character.`,
    );
  }
  if (!isObject(registration)) {
    return failure("invalid-tool", `The tool ${name} was registered without a definition.`);
  }
  if (!isObject(registration.input_schema)) {
    return failure(
      "invalid-tool",
      `The tool ${name} has no input schema.`,
      "Give its definition an input_schema.",
    );
  }
  const wrong = (["execute", "format_preview", "rewrites"] as const).find((member) =>
    typeof (registration[member] ?? (() => {})) !== "function"
  );
  if (wrong !== undefined) {
    return failure("invalid-tool", `The member ${wrong} of the tool ${name} is not a function.`);
  }
  const excess = schemaExcess(registration.input_schema);
  if (excess !== null) return failure("invalid-tool", `The tool ${name} cannot be used: ${excess}.`);
  const violation = registration.strict === true ? strictViolation(registration.input_schema, "") : null;
  if (violation !== null) {
    warnings.push({
      code: "tool-not-strict",
      message: `The tool ${name} is offered without strict mode, because ${violation}.`,
      next:
        "List every property in required, set additionalProperties to false, and make optional properties nullable.",
    });
  }
  const { enabled } = registration;
  const capabilities = Array.isArray(registration.capabilities)
    ? registration.capabilities.map(knownCapability)
    : undefined;
  return success({
    ...registration,
    ...rightsOf({ ...registration, capabilities }, origin),
    capabilities,
    origin,
    continues: origin === "built-in" && registration.continues === true,
    most_parallel: origin === "built-in" ? registration.most_parallel : undefined,
    file: origin === "file" ? registration.file ?? null : file,
    fault: origin === "file" ? registration.fault : undefined,
    risk: origin === "file" ? registration.risk : undefined,
    server: origin === "server" ? registration.server : undefined,
    name,
    description: registration.description ?? "",
    strict: violation === null ? registration.strict : undefined,
    // Definitions may be class instances: their methods are not copied and need their object.
    enabled: typeof enabled === "function" ? enabled.bind(registration) : enabled,
    execute: registration.execute?.bind(registration),
    format_preview: registration.format_preview?.bind(registration),
    rewrites: registration.rewrites?.bind(registration),
  });
}

/**
 * Returns the rights of a tool. What a module declares about the rights of its tools is not believed, because its code
 * runs in this process.
 */
function rightsOf(
  { effects, runs, capabilities }: Registration,
  origin: ToolOrigin,
): Pick<RegisteredTool, "effects" | "runs"> {
  if (origin === "module") return { effects: "writes", runs: "here" };
  const declared = capabilities?.includes(SANDBOX_CAPABILITY) ? "inside" : "here";
  return {
    effects: effects === "none" || effects === "reads" ? effects : "writes",
    runs: runs === "inside" || runs === "outside" || runs === "here" ? runs : declared,
  };
}

/** Returns the first rule of strict mode that a schema breaks, as the end of a sentence; null if it breaks none. */
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
