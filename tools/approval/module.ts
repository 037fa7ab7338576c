// An approval resolver in a file of the person: loaded at the first question (approval 2, frontmatter-config 5.4).

import { fileUri } from "../../base/paths.ts";
import { thrownText } from "../../base/problem.ts";
import type { ApprovalContext, Decision, ResolverDefinition } from "./types.ts";

type Ask = (tool: string, input: Readonly<Record<string, unknown>>, context: ApprovalContext) => unknown;

/**
 * A module that `auto_approve` names exports by default a function that answers like that setting (true, false,
 * `"deny"`, nothing). One that `tools.resolvers` names answers in the words of the chain, and so does any object with
 * `resolve`. A module that does not load, or exports neither, throws at every question, so that nothing is approved by
 * circumstance behind its back; with `strict` it asks a person.
 */
export function moduleResolver(options: {
  /** Absolute path of the file. */
  readonly path: string;
  readonly speaks: "auto_approve" | "chain";
  readonly priority: number;
  readonly strict: boolean;
}): ResolverDefinition {
  let loading: Promise<Ask> | null = null;
  return {
    priority: options.priority,
    description: `the module ${options.path}`,
    async resolve(tool, input, context) {
      let ask: Ask;
      try {
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
    throw new Error(`The module does not load: ${thrownText(thrown)}`);
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
    return result === true
      ? "approve"
      : result === false
      ? "require_approval"
      : result === "deny"
      ? "deny"
      : null;
  };
}
