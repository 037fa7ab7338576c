// An approval resolver in a person's module, loaded when it is first asked.

import { fileUri } from "../../base/paths.ts";
import { thrownText } from "../../base/problem.ts";
import type { ApprovalContext, Decision, ResolverDefinition } from "./types.ts";

type Ask = (tool: string, input: Readonly<Record<string, unknown>>, context: ApprovalContext) => unknown;

/**
 * A module named by `auto_approve` exports by default a function that answers like that setting: true, false, `"deny"`
 * or nothing. A module named by `tools.resolvers`, and any exported object with `resolve`, answers with a `Decision`.
 * A module that does not load, or exports neither, throws each time it is asked, so that no resolver approves by
 * circumstance in its absence. With `strict`, such a module asks a person instead of throwing.
 */
export function moduleResolver(options: {
  /** Absolute path of the file. */
  readonly path: string;
  readonly speaks: "auto_approve" | "chain";
  readonly priority: number;
  readonly strict: boolean;
  /**
   * Reason why the module's code must not run, as a sentence; null if it has not changed since the settings were read.
   */
  changed(path: string): Promise<string | null>;
}): ResolverDefinition {
  let loading: Promise<Ask> | null = null;
  return {
    priority: options.priority,
    description: `the module ${options.path}`,
    async resolve(tool, input, context) {
      let ask: Ask;
      try {
        // This is checked before every decision, because the module may load further files at any decision.
        const change = await options.changed(options.path);
        if (change !== null) throw new Error(change);
        ask = await (loading ??= load(options.path, options.speaks));
      } catch (thrown) {
        if (options.strict) return "require_approval";
        throw thrown;
      }
      return await ask(tool, input, context) as Decision | null | undefined;
    },
  };
}

async function load(path: string, speaks: "auto_approve" | "chain"): Promise<Ask> {
  let module: { default?: unknown; resolve?: unknown };
  try {
    module = await import(fileUri(path));
  } catch (thrown) {
    throw new Error(`The module could not be loaded: ${thrownText(thrown)}`);
  }
  for (const holder of [module, module.default]) {
    const resolve = (holder as { resolve?: unknown } | undefined)?.resolve;
    if (typeof resolve === "function") return (...given) => resolve.call(holder, ...given);
  }
  const { default: answer } = module;
  if (typeof answer !== "function") throw new Error("The module exports neither a function nor resolve.");
  if (speaks === "chain") return (...given) => answer(...given);
  return async (...given) => {
    const result: unknown = await answer(...given);
    if (typeof result === "boolean") return result ? "approve" : "require_approval";
    if (result === "deny" || result === null || result === undefined) return result;
    throw new Error('The module must answer true, false, "deny" or nothing.');
  };
}
