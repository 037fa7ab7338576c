// Ensures that a call runs on the path that was approved. If the path leads to another file when the call runs, the
// call fails.

import { realPath } from "../../base/disk/real_path.ts";
import type { ExecutionResult, ToolDefinition, ToolInput } from "../definition.ts";
import type { RuleEvaluator } from "./rules/resolvers.ts";

/** The part of a tool definition that names the input member with a path. */
type PathTool = Pick<ToolDefinition, "name" | "path_input">;

/** Records where the paths of a document's calls led when the calls were decided, if rules about paths exist. */
export class DecidedPaths {
  readonly #rules: RuleEvaluator;
  readonly #resolve: (tool: string, path: string) => string;
  readonly #real = new Map<string, string | null>();

  /**
   * Creates an empty record.
   *
   * @param resolve makes a path in a call of a tool absolute
   */
  constructor(rules: RuleEvaluator, resolve: (tool: string, path: string) => string) {
    this.#rules = rules;
    this.#resolve = resolve;
  }

  /** Records where the path of a call leads at the moment of the decision. */
  note(id: string, tool: PathTool | undefined, input: ToolInput): void {
    const real = this.#now(tool, input);
    if (real !== undefined) this.#real.set(id, real);
  }

  /**
   * Returns the tool for one call, with a check of its path. The check takes place when the tool runs, because other
   * commands may have run since the decision. If the path then leads to another file, or if a rule denies its target,
   * the tool does nothing.
   */
  guarded(id: string, tool: ToolDefinition): ToolDefinition {
    const { execute } = tool;
    if (execute === undefined || tool.path_input === undefined) return tool;
    return {
      ...tool,
      execute: async (input, context, callback) => {
        const refused = await this.#refusal(id, tool, input);
        return refused ?? await execute.call(tool, input, context, callback) as ExecutionResult;
      },
    };
  }

  async #refusal(id: string, tool: ToolDefinition, input: ToolInput): Promise<ExecutionResult | null> {
    const noted = this.#real.get(id);
    const now = this.#now(tool, input);
    if (noted !== undefined && now !== noted) {
      const path = String(input[tool.path_input ?? ""]);
      return {
        success: false,
        error: `${path} resolves to another file than when this call was approved. Call the tool again.`,
      };
    }
    // A new object, so that no cached evaluation is used.
    const { restriction } = await this.#rules.evaluate(tool.name, { ...input });
    if (restriction?.decision !== "deny") return null;
    return {
      success: false,
      error: `This call was denied by policy: ${restriction.part} now resolves to a path that a rule denies.`,
    };
  }

  /** Returns where the path of a call leads; undefined if the call has no path. */
  #now(tool: PathTool | undefined, input: ToolInput): string | null | undefined {
    const path = tool?.path_input === undefined ? undefined : input[tool.path_input];
    if (tool === undefined || typeof path !== "string" || path === "") return undefined;
    return realPath(this.#resolve(tool.name, path), "/");
  }
}
