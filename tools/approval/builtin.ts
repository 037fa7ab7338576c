// Resolvers that approve by circumstance: the sandbox, the risk of a tool file, and the catch-all.

import type { ToolSettings } from "../../config/settings.generated.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import { type Effects, JOB_STATUS, JOB_STOP, type RunsIn, SANDBOX_CAPABILITY } from "../definition.ts";
import type { ResolverDefinition } from "./types.ts";

/** Facts about tools and the process that the sandbox resolver needs. */
export interface SandboxFacts {
  hasCapability(tool: string, capability: string): boolean;
  /** Returns what a call of a tool may change. A tool without effects needs no sandbox to confine it. */
  effects(tool: string): Effects;
  /** Returns where calls of a tool run. */
  runs(tool: string): RunsIn;
  /** True if this process runs as root. */
  readonly root: boolean;
}

/**
 * Returns the first unmet condition for approval by the sandbox, as a sentence; null if the sandbox approves the tool.
 * Requires a backend that was tested, not merely an installed program.
 */
export async function sandboxObstacle(
  tool: string,
  settings: ToolSettings,
  sandbox: Sandbox,
  facts: SandboxFacts,
): Promise<string | null> {
  if (settings.auto_approve_sandboxed === false) return "tools.auto_approve_sandboxed is false";
  if ((settings.document ?? settings).auto_approve === null) return "tools.auto_approve is not set";
  if (facts.effects(tool) !== "none") {
    if (!facts.hasCapability(tool, SANDBOX_CAPABILITY)) {
      return `${tool} does not declare ${SANDBOX_CAPABILITY}`;
    }
    if (facts.runs(tool) !== "inside") return `${tool} does not run in the sandbox`;
  }
  const { document } = settings;
  if (document?.removed.includes(tool)) return `the document removed ${tool} from tools.auto_approve`;
  if (document?.assigned) return "the document sets its own tools.auto_approve";
  // If a person removed a tool from the list, this is an explicit decision, so the sandbox must not approve the tool.
  if ((document ?? settings).excluded.includes(tool)) return `${tool} was removed from tools.auto_approve`;
  if (!sandbox.enabled) return "the sandbox is disabled";
  const policy = sandbox.policy();
  if (!policy.ok) return policy.problem.message;
  if (policy.value.rw_paths.includes("/")) return "the sandbox policy makes everything writable";
  if (facts.root && policy.value.allow_privileged) {
    return "a sandbox with allow_privileged does not confine root";
  }
  const backend = await sandbox.available();
  return backend.ok ? null : backend.problem.message;
}

/** Approves calls that a working sandbox confines. */
export function sandboxResolver(
  settings: ToolSettings,
  sandbox: Sandbox,
  facts: SandboxFacts,
): ResolverDefinition {
  return {
    priority: 25,
    description: "a working sandbox",
    explain: async (tool) => {
      const obstacle = await sandboxObstacle(tool, settings, sandbox, facts);
      return obstacle === null ? ["it runs in a working sandbox"] : [obstacle.replace(/\.$/, "")];
    },
    resolve: async (tool) =>
      (await sandboxObstacle(tool, settings, sandbox, facts)) === null ? "approve" : null,
  };
}

/** Risk levels up to which tool files are approved automatically, lowest first. */
const RISKS = ["none", "low", "medium", "high"] as const;

/** The risk that a tool file's author declares, medium if none; undefined for every other tool. */
export type RiskOf = (tool: string) => "low" | "medium" | "high" | undefined;

/**
 * Returns why the declared risk of a tool file is not enough to approve it, as the end of a sentence; null if it is
 * enough. The approval settings of a document take precedence over the risk, as they do over approval by the sandbox.
 */
function riskObstacle(
  tool: string,
  risk: NonNullable<ReturnType<RiskOf>>,
  settings: ToolSettings,
): string | null {
  const { document, auto_approve_risk: most } = settings;
  if (RISKS.indexOf(risk) > RISKS.indexOf(most)) {
    return `its risk is ${risk}, and tools.auto_approve_risk is ${most}`;
  }
  if ((document ?? settings).auto_approve === null) return "tools.auto_approve is not set";
  if (document?.removed.includes(tool)) return `the document removed ${tool} from tools.auto_approve`;
  if (document?.assigned) return "the document sets its own tools.auto_approve";
  if ((document ?? settings).excluded.includes(tool)) return `${tool} was removed from tools.auto_approve`;
  return null;
}

/**
 * Approves calls of tool files by the risk that the author declares. The declaration is believed, because a person
 * trusted the file. If a call of a high-risk file is not approved here, it waits for a person, even if a later resolver
 * would approve it.
 */
export function riskResolver(settings: ToolSettings, riskOf: RiskOf): ResolverDefinition {
  return {
    priority: 30,
    description: "the declared risk of a tool file",
    concerns: (tool) => riskOf(tool) !== undefined,
    explain: (tool) => {
      const risk = riskOf(tool);
      return risk === undefined ? [] : [riskObstacle(tool, risk, settings) ?? `its risk is ${risk}`];
    },
    resolve: (tool) => {
      const risk = riskOf(tool);
      if (risk === undefined) return null;
      if (riskObstacle(tool, risk, settings) === null) return "approve";
      return risk === "high" ? "require_approval" : null;
    },
  };
}

/** Approves calls that read or stop a background job. They reach only jobs of their own run. */
export function jobsResolver(): ResolverDefinition {
  const isJobTool = (tool: string) => tool === JOB_STATUS || tool === JOB_STOP;
  return {
    priority: 26,
    description: "background jobs of the same run",
    concerns: isJobTool,
    explain: (tool) => isJobTool(tool) ? ["it reaches only jobs of its own run"] : [],
    resolve: (tool) => isJobTool(tool) ? "approve" : null,
  };
}

/** Approves everything that no other resolver decided; exists only if a person turned approval off. */
export function catchAllResolver(): ResolverDefinition {
  return { priority: 0, description: "require_approval is false", resolve: () => "approve" };
}
