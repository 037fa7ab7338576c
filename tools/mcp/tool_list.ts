// What a server lists, as tools of this program: each is read by itself, so that a bad one costs no other.

import { isObject } from "../../base/is_object.ts";
import { nameFilter } from "../../config/rules/name_filter.ts";
import type { McpServer } from "../../config/settings.generated.ts";
import type { ExecutionContext, ExecutionResult, RunsIn, ToolDefinition, ToolInput } from "../definition.ts";

/** Does one call of a tool, by the name that the server gave it. */
export type CallTool = (
  name: string,
  input: ToolInput,
  context: ExecutionContext,
) => Promise<ExecutionResult>;

/** Whose list it is, and which of it is wanted. */
export interface ListSubject {
  /** Name of the server, which stands before the names of its tools. */
  readonly server: string;
  readonly settings: Pick<McpServer, "include" | "exclude">;
  /** Where the server works. */
  readonly runs: RunsIn;
  readonly call: CallTool;
}

/**
 * The tools of a list that the settings want. One that cannot be offered is there as well, without being offered: a call
 * of it, and `flemma tools show`, tell why. What has no name that could be written down is passed over.
 */
export function definitionsOf(listed: readonly unknown[], subject: ListSubject): ToolDefinition[] {
  const isTaken = nameFilter(subject.settings.include ?? ["*"], subject.settings.exclude ?? []);
  const named = listed.filter(isNamed);
  // Of two tools of one name the first is meant: nobody could say which of them is called.
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

function definitionOf(tool: Named, { server, runs, call }: ListSubject): ToolDefinition {
  const { name, description, inputSchema } = tool;
  const own = {
    name: `${server}:${name}`,
    description: typeof description === "string" ? description : "",
    runs,
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
  // Which edition a schema is written in is nothing that providers take.
  const { $schema: _, ...schema } = inputSchema;
  return {
    ...own,
    // Servers leave it out, and providers refuse a request without it.
    input_schema: { type: "object", ...schema },
    async: true,
    execute: (input, context) => call(name, input, context),
  };
}

/** Why a tool cannot be offered, as the end of a sentence; null when it can. */
function faultOf({ inputSchema, execution }: Named): string | null {
  if (!isObject(inputSchema)) return "its server lists no schema of its input";
  if (inputSchema.type !== undefined && inputSchema.type !== "object") {
    return `its server says that its input is no object but ${JSON.stringify(inputSchema.type)}`;
  }
  if (isObject(execution) && execution.taskSupport === "required") {
    return "it must run as a task, which this program does not do";
  }
  return null;
}

function isNamed(tool: unknown): tool is Named {
  if (!isObject(tool) || typeof tool.name !== "string" || tool.name === "") return false;
  // deno-lint-ignore no-control-regex -- such a name could not be written into a document and read back
  return tool.name.length <= LONGEST_NAME && !/[`\x00-\x1f\x7f]/.test(tool.name);
}

/** Characters of a name; longer ones are somebody's mistake. */
const LONGEST_NAME = 256;
