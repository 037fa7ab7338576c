// Converts a server's tool list to tool definitions, one by one, so that an invalid tool affects no other.

import { isObject } from "../../base/is_object.ts";
import { nameFilter } from "../../config/rules/name_filter.ts";
import { schemaExcess } from "../registration/schema_size.ts";
import type { McpServer } from "../../config/settings.generated.ts";
import type { ExecutionContext, ExecutionResult, RunsIn, ToolDefinition, ToolInput } from "../definition.ts";

/** A tool as its server lists it. */
export interface CalledTool {
  /** The name that the server gave it. */
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Calls a tool. */
export type CallTool = (
  tool: CalledTool,
  input: ToolInput,
  context: ExecutionContext,
) => Promise<ExecutionResult>;

/** The server of a list, and which of its tools are wanted. */
export interface ListSubject {
  /** Name of the server, which prefixes the names of its tools. */
  readonly server: string;
  readonly settings: Pick<McpServer, "include" | "exclude" | "url">;
  /** Where the server runs. */
  readonly runs: RunsIn;
  readonly call: CallTool;
}

/**
 * Returns the tools of a list that the settings select. A tool that cannot be offered is included but not offered: a
 * call of it, and `flemma tools show`, say why. Tools whose names cannot be written in a document are skipped.
 */
export function definitionsOf(listed: readonly unknown[], subject: ListSubject): ToolDefinition[] {
  const isTaken = nameFilter(subject.settings.include ?? ["*"], subject.settings.exclude ?? []);
  const named = listed.filter(isNamed);
  // If two tools have the same name, only the first is used, because a call could not say which one it means.
  const first = new Map(named.toReversed().map((tool) => [tool.name, tool]));
  return [...first.values()].toReversed().filter(({ name }) => isTaken(name))
    .map((tool) => definitionOf(tool, subject));
}

interface Named {
  readonly name: string;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly execution?: unknown;
}

function definitionOf(tool: Named, { server, settings: { url }, runs, call }: ListSubject): ToolDefinition {
  const { name, description, inputSchema } = tool;
  const own = {
    name: `${server}:${name}`,
    description: typeof description === "string" ? description : "",
    runs,
    // Settings may insert a variable into the address, which has no host before that.
    server: { name: server, host: url ? URL.parse(url)?.host ?? url : null },
  };
  const fault = faultOf(tool);
  if (fault !== null || !isObject(inputSchema)) {
    const error = `The tool ${own.name} cannot be called: ${fault}.`;
    return {
      ...own,
      description: error,
      input_schema: { type: "object" },
      enabled: false,
      execute: () => ({ success: false, error }),
    };
  }
  // The member `$schema` is removed, because providers do not accept it.
  const { $schema: _, ...schema } = inputSchema;
  return {
    ...own,
    // Servers omit the type, and providers refuse a request without it.
    input_schema: { type: "object", ...schema },
    async: true,
    execute: (input, context) => call({ name, schema: inputSchema }, input, context),
  };
}

/** Returns why a tool cannot be offered, as the end of a sentence; null if it can. */
function faultOf({ inputSchema, execution }: Named): string | null {
  if (!isObject(inputSchema)) return "its server lists no input schema";
  if (inputSchema.type !== undefined && inputSchema.type !== "object") {
    return `its input schema has the type ${JSON.stringify(inputSchema.type)} instead of "object"`;
  }
  const excess = schemaExcess(inputSchema);
  if (excess !== null) return excess;
  if (isObject(execution) && execution.taskSupport === "required") {
    return "it must run as a task, which flemma does not support";
  }
  return null;
}

function isNamed(tool: unknown): tool is Named {
  if (!isObject(tool) || typeof tool.name !== "string" || tool.name === "") return false;
  // deno-lint-ignore no-control-regex -- such a name could not be written into a document and read back
  return tool.name.length <= LONGEST_NAME && !/[`\x00-\x1f\x7f]/.test(tool.name);
}

/** Maximum number of characters of a name; a longer name is a mistake. */
const LONGEST_NAME = 256;
