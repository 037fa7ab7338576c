// Approval: decides whether a tool call runs, waits for a person, or is denied.

import type { ToolSettings } from "../../config/settings.generated.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import {
  catchAllResolver,
  jobsResolver,
  type RiskOf,
  riskResolver,
  type SandboxFacts,
  sandboxResolver,
} from "./builtin.ts";
import { moduleResolver } from "./module.ts";
import type { ToolFacts } from "./presets.ts";
import { configResolver, frontmatterResolver, policyModules, runResolver } from "./policy.ts";
import { ApprovalRegistry, type ResolverFault } from "./registry.ts";
import { approvingRules, restrictingRules, type RuleEvaluator } from "./rules/resolvers.ts";

export { ApprovalRegistry, processApproval, type ResolverFault } from "./registry.ts";
export { type SandboxFacts, sandboxObstacle } from "./builtin.ts";
export { watchedFile } from "./watched.ts";
export { expandList, presetsOf } from "./presets.ts";
export { type CallReasons, type ExplainedCommand, type ExplainedRule, reasonsOf } from "./reasons.ts";
export { DecidedPaths } from "./decided_paths.ts";
export {
  type ApprovalDowngrade,
  type Decide,
  type DecideOptions,
  type HookQuestion,
  withDowngrades,
} from "./downgrades.ts";
export { waitsForSource } from "./types.ts";
export { type RuleEvaluator } from "./rules/resolvers.ts";
export type { EvaluatedCommand, RuleEvaluation } from "./rules/types.ts";
export type {
  ApprovalContext,
  ApprovalDecision,
  ChainLink,
  Decision,
  Explanation,
  ResolverDefinition,
  ResolverEntry,
} from "./types.ts";

/** Facts and services that the built-in resolvers use. */
export interface ApprovalParts {
  /** Approval settings. */
  readonly settings: ToolSettings;
  /** The sandbox, which is asked whether it works. */
  readonly sandbox: Sandbox;
  /** The tools, which are asked for their capabilities and rights. */
  readonly tools: ToolFacts;
  /** True if this process is root. @default asks the system */
  readonly root?: boolean;
  /** The rules about inputs. @default none */
  readonly rules?: RuleEvaluator | null;
  /** Returns why the code of a module must not run, as a sentence; null if it may. @default nothing is compared */
  readonly changed?: (path: string) => Promise<string | null>;
  /** Called once for each way in which a resolver fails. */
  readonly onFault?: (fault: ResolverFault) => void;
}

/** Creates the chain with all built-in resolvers that these settings need. */
export function createApproval(parts: ApprovalParts): ApprovalRegistry {
  const registry = new ApprovalRegistry(parts.onFault);
  const facts: SandboxFacts = {
    hasCapability: (tool, capability) => parts.tools.hasCapability(tool, capability),
    effects: (tool) => parts.tools.get?.(tool)?.effects ?? "writes",
    runs: (tool) => parts.tools.get?.(tool)?.runs ?? "inside",
    root: parts.root ?? Deno.uid() === 0,
  };
  const rules = parts.rules ?? null;
  if (rules?.restricts) registry.register("urn:flemma:approval:rules", restrictingRules(rules));
  registry.register("urn:flemma:approval:config", configResolver(parts.settings, parts.tools));
  const document = frontmatterResolver(parts.settings, parts.tools);
  if (document !== null) registry.register("urn:flemma:approval:frontmatter", document);
  const run = runResolver(parts.settings, parts.tools, rules?.approves ? approvingRules(rules) : null);
  if (run !== null) registry.register("urn:flemma:approval:approve-rules", run);
  const strict = parts.settings.approval_strict;
  const changed = parts.changed ?? (() => Promise.resolve(null));
  for (const path of policyModules(parts.settings)) {
    registry.registerModule(
      path,
      moduleResolver({ path, speaks: "auto_approve", priority: 100, strict, changed }),
    );
  }
  for (const { path, priority = 50, name = path } of parts.settings.resolvers) {
    registry.registerModule(name, moduleResolver({ path, speaks: "chain", priority, strict, changed }));
  }
  const riskOf: RiskOf = (name) => {
    const tool = parts.tools.get?.(name);
    if (tool?.origin !== "file") return undefined;
    return tool.risk ?? (tool.fault === undefined ? "medium" : undefined);
  };
  registry.register("urn:flemma:approval:risk", riskResolver(parts.settings, riskOf));
  if (parts.settings.jobs.enabled) registry.register("urn:flemma:approval:jobs", jobsResolver());
  registry.register("urn:flemma:approval:sandbox", sandboxResolver(parts.settings, parts.sandbox, facts));
  if (parts.settings.require_approval === false) {
    registry.register("urn:flemma:approval:catch-all", catchAllResolver());
  }
  return registry;
}
