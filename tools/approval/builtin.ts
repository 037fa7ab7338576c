// The resolvers that approve by circumstance: the sandbox, and the catch-all.

import type { ToolSettings } from "../../config/settings/tools.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import { type RunsIn, SANDBOX_CAPABILITY } from "../definition.ts";
import type { ResolverDefinition } from "./types.ts";

/** What the sandbox resolver needs to know of tools and of the process. */
export interface SandboxFacts {
  hasCapability(tool: string, capability: string): boolean;
  /** Where calls of a tool run. */
  runs(tool: string): RunsIn;
  /** Whether this process runs as the superuser. */
  readonly root: boolean;
}

/**
 * The first condition of approval section 6 that does not hold for a tool, as a sentence; null when the sandbox
 * approves it. Asks for a real, probed backend, never for the mere presence of a program.
 */
export async function sandboxObstacle(
  tool: string,
  settings: ToolSettings,
  sandbox: Sandbox,
  facts: SandboxFacts,
): Promise<string | null> {
  if (settings.auto_approve_sandboxed === false) return "tools.auto_approve_sandboxed is false";
  if ((settings.document ?? settings).auto_approve === null) return "no tools.auto_approve is configured";
  if (!facts.hasCapability(tool, SANDBOX_CAPABILITY)) return `${tool} does not declare ${SANDBOX_CAPABILITY}`;
  if (facts.runs(tool) !== "inside") return `${tool} does not run in the sandbox`;
  const { document } = settings;
  if (document?.removed.includes(tool)) return `the document took ${tool} out of tools.auto_approve`;
  if (document?.assigned) return "the document assigned its own tools.auto_approve";
  // Not a condition of the founding pages, but taking a name out is an explicit word of a person (S12).
  if ((document ?? settings).excluded.includes(tool)) return `${tool} was taken out of tools.auto_approve`;
  if (!sandbox.enabled) return "the sandbox is disabled";
  const policy = sandbox.policy();
  if (!policy.ok) return policy.problem.message;
  if (policy.value.rw_paths.includes("/")) return "the policy makes everything writable";
  if (facts.root && policy.value.allow_privileged) return "a privileged sandbox is no barrier for root";
  const backend = await sandbox.available();
  return backend.ok ? null : backend.problem.message;
}

/** Approves what may run by itself because a working sandbox stands around it (approval section 6). */
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
      return obstacle === null ? ["a working sandbox stands around it"] : [obstacle.replace(/\.$/, "")];
    },
    resolve: async (tool) =>
      (await sandboxObstacle(tool, settings, sandbox, facts)) === null ? "approve" : null,
  };
}

/** How much a tool file may be approved for by itself, from nothing on. */
const RISKS = ["none", "low", "medium", "high"] as const;

/** The risk that the author of a tool file names; nothing for every other tool. */
export type RiskOf = (tool: string) => "low" | "medium" | "high" | undefined;

/**
 * What keeps a tool file from being approved by its risk, as the end of a sentence; null when nothing does. The document's
 * word about the tool counts as for the sandbox (approval section 6).
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
  if ((document ?? settings).auto_approve === null) return "no tools.auto_approve is configured";
  if (document?.removed.includes(tool)) return `the document took ${tool} out of tools.auto_approve`;
  if (document?.assigned) return "the document assigned its own tools.auto_approve";
  if ((document ?? settings).excluded.includes(tool)) return `${tool} was taken out of tools.auto_approve`;
  return null;
}

/**
 * Approves tool files by the risk that their author names, which counts because a person agreed to the file (tools 7.6).
 * What is of high risk and not approved here waits for a person, whatever circumstances would approve below.
 */
export function riskResolver(settings: ToolSettings, riskOf: RiskOf): ResolverDefinition {
  return {
    priority: 30,
    description: "the risk of a tool file",
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

/** Approves everything that nobody above spoke about; exists only when a person asked for no approval at all. */
export function catchAllResolver(): ResolverDefinition {
  return { priority: 0, description: "require_approval is false", resolve: () => "approve" };
}
