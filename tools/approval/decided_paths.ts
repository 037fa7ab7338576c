// Ensures that a call runs on the path that was approved: if the path leads elsewhere when it runs, that is an error.

import { realPath } from "../../base/disk/real_path.ts";
import type { ExecutionResult, ToolDefinition, ToolInput } from "../definition.ts";
import type { RuleEvaluator } from "./rules/resolvers.ts";

/** The part of a tool that says where its path is. */
type PathTool = Pick<ToolDefinition, "path_input">;

/** Where the paths of a document's calls led when they were decided, if rules about paths exist. */
export class DecidedPaths {
  readonly #rules: RuleEvaluator;
  readonly #resolve: (path: string) => string;
  readonly #real = new Map<string, string | null>();

  /**
   * Creates an empty record.
   *
   * @param resolve makes a path that a model wrote absolute
   */
  constructor(rules: RuleEvaluator, resolve: (path: string) => string) {
    this.#rules = rules;
    this.#resolve = resolve;
  }

  /** Records where the path of a call leads at the moment of the decision. */
  note(id: string, tool: PathTool | undefined, input: ToolInput): void {
    const real = this.#now(tool, input);
    if (real !== undefined) this.#real.set(id, real);
  }

  /**
   * The tool for one run. It checks the path again when it runs, which may be after other commands. It does nothing if
   * the path leads elsewhere by then, or if a rule denies the new target.
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

  /** Where the path of a call leads; undefined if the call has no path. */
  #now(tool: PathTool | undefined, input: ToolInput): string | null | undefined {
    const path = tool?.path_input === undefined ? undefined : input[tool.path_input];
    return typeof path === "string" && path !== "" ? realPath(this.#resolve(path), "/") : undefined;
  }
}
