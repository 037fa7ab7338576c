// A call runs on the path that was decided about: what leads elsewhere when its turn comes is an error (approval 11).

import { realPath } from "../../base/disk/real_path.ts";
import type { ExecutionResult, ToolDefinition, ToolInput } from "../definition.ts";
import type { RuleEvaluator } from "./rules/resolvers.ts";

/** A tool as far as its paths go. */
type PathTool = Pick<ToolDefinition, "path_input">;

/** Where the paths of a document's calls led when they were decided about, where rules look at paths. */
export class DecidedPaths {
  readonly #rules: RuleEvaluator;
  readonly #resolve: (path: string) => string;
  readonly #real = new Map<string, string | null>();

  /**
   * Knows of no call yet.
   *
   * @param resolve the absolute path of what a model wrote
   */
  constructor(rules: RuleEvaluator, resolve: (path: string) => string) {
    this.#rules = rules;
    this.#resolve = resolve;
  }

  /** Notes where the path of a call leads at the moment it is decided about. */
  note(id: string, tool: PathTool | undefined, input: ToolInput): void {
    const real = this.#now(tool, input);
    if (real !== undefined) this.#real.set(id, real);
  }

  /**
   * The tool for one run: it looks again when its turn has come, which may be after commands that ran meanwhile, and
   * does nothing where the path leads elsewhere by then, or a rule denies where it leads.
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
        error: `${path} leads elsewhere now than when this call was decided about. Call again.`,
      };
    }
    // A new object, so that nothing is answered from before.
    const { restriction } = await this.#rules.evaluate(tool.name, { ...input });
    if (restriction?.decision !== "deny") return null;
    return { success: false, error: `A rule denies where ${restriction.part} leads now.` };
  }

  /** Where the path of a call leads; undefined when it names none. */
  #now(tool: PathTool | undefined, input: ToolInput): string | null | undefined {
    const path = tool?.path_input === undefined ? undefined : input[tool.path_input];
    return typeof path === "string" && path !== "" ? realPath(this.#resolve(path), "/") : undefined;
  }
}
