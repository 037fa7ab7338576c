// Prepares the approval rules of one document: their base folders, and what they look up.

import type { Environment } from "../../base/environment.ts";
import { baseName, inWorktree, isInside, workFolderOf } from "../../base/paths.ts";
import { byLayer } from "../../config/rules/place.ts";
import type { PlacedRule } from "../../config/rules/rule.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Loaded } from "../../config/sources/find.ts";
import { expandPath } from "../../sandbox/paths/expand.ts";
import { toolEnvironment } from "../../sandbox/policy/tool_environment.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import { configuredFolder } from "../context.ts";
import type { ToolRegistry } from "../registry.ts";
import type { RuleParts } from "./rules/evaluate.ts";
import type { RuleEvaluator } from "./rules/resolvers.ts";

/** The document whose rules are evaluated. */
export interface RuleSubject {
  readonly settings: Settings;
  readonly tools: ToolRegistry;
  readonly sandbox: Pick<Sandbox, "policy" | "enabled" | "available" | "isProtected">;
  readonly environment: Environment;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  readonly loaded: Pick<Loaded, "project" | "placeOf">;
}

/** Creates the evaluator of a document's rules; null if there are none, so that nothing is loaded for them. */
export async function rulesOf(subject: RuleSubject): Promise<RuleEvaluator | null> {
  const { settings, loaded } = subject;
  const { rules } = settings.tools;
  if (rules.length === 0) return null;
  const { evaluateCall } = await import("./rules/mod.ts");
  const parts = await rulePartsOf(subject);
  const evaluations = new WeakMap<object, ReturnType<typeof evaluateCall>>();
  return {
    restricts: rules.some(({ rule }) => rule.decision !== "approve"),
    approves: rules.some(({ rule }) => rule.decision === "approve"),
    evaluate(tool, input) {
      const known = evaluations.get(input) ?? evaluateCall(tool, input, parts);
      evaluations.set(input, known);
      return known;
    },
    placeOf: (placed) => loaded.placeOf(placed.key, placed.written) ?? byLayer(placed.layer),
  };
}

/** Returns the inputs for evaluating a document's rules. */
export async function rulePartsOf(subject: RuleSubject): Promise<RuleParts> {
  const { settings, tools, environment, document, loaded } = subject;
  const { worldNow } = await import("./rules/mod.ts");
  const folder = workFolderOf(environment, document);
  const { shell, env } = settings.tools.named.bash ?? {};
  const own = typeof env === "object" && env !== null ? env as Readonly<Record<string, unknown>> : {};
  const path = typeof own.PATH === "string" ? own.PATH : environment.variables.PATH ?? "";
  const { CDPATH = "" } = environment.variables;
  const inherited = toolEnvironment({ CDPATH }, settings.tools.env, { sandboxed: false });
  const policy = subject.sandbox.policy();
  const lookups = {
    environment,
    path,
    // If the policy cannot be read, the paths that commands may write are unknown.
    writable: () => (policy.ok ? policy.value.rw_paths : null),
    isProtected: (path: string) =>
      subject.sandbox.isProtected?.(path) ??
        (policy.ok && policy.value.protect.some((root) => isInside(path, root))),
  };
  const folders = {
    G: environment.cwd,
    C: environment.cwd,
    R: environment.cwd,
    P: loaded.project,
    M: folder,
  };
  const { rules, copies } = withCopies(settings.tools.rules, environment);
  const expand = (front: string): string | null => {
    const expansion = expandPath(front, { environment, document });
    return expansion.kind === "path" ? expansion.path : null;
  };
  return {
    rules,
    worldNow: () => worldNow(lookups),
    folderOf: (tool: string) => folderOfCalls(subject, tool),
    baseOf: (placed: PlacedRule) => {
      const base = folders[placed.layer];
      return { folder: base !== null && copies.has(placed) ? inWorktree(base, environment) : base, expand };
    },
    tool: (name: string) => tools.get(name),
    searchesFolders: [own.CDPATH, inherited.CDPATH].some((given) =>
      typeof given === "string" && given !== ""
    ),
    otherShell: typeof shell === "string" && shell !== "" && baseName(shell) !== "bash" ? shell : null,
    isSandboxed: async () => subject.sandbox.enabled && (await subject.sandbox.available()).ok,
    loadShell: () => import("npm:unbash@6.0.4"),
  };
}

/**
 * In the git worktree of a helper, every rule counts twice: for the files that it means in the project, and for the same
 * files of the worktree.
 */
function withCopies(rules: readonly PlacedRule[], { projectFolder }: Environment) {
  const copies = new Set<PlacedRule>();
  if (projectFolder === undefined) return { rules, copies };
  const both = rules.flatMap((placed) => {
    const copy = { ...placed };
    copies.add(copy);
    return [placed, copy];
  });
  return { rules: both, copies };
}

/**
 * Returns the folder in which a tool's commands start, or that paths in its calls are relative to. If the setting is
 * invalid, returns the program's folder; the call itself then fails.
 */
export function folderOfCalls(
  { settings, tools, document, environment }: Pick<
    RuleSubject,
    "settings" | "tools" | "document" | "environment"
  >,
  name: string,
): string {
  const definition = tools.get(name);
  if (definition?.command_input === undefined && definition?.searches === undefined) {
    return workFolderOf(environment, document);
  }
  try {
    return configuredFolder({ definition, settings, document, environment });
  } catch {
    // The call itself reports the same error and does not run.
    return environment.cwd;
  }
}
