// Describes the confinement of a document's tools, and the policy for each tool, without any call.

import type { Environment } from "../../base/environment.ts";
import { originOf } from "../../config/layers/explain.ts";
import { type SandboxStatus, sandboxStatus, withheldVariables } from "../../sandbox/mod.ts";
import { type ApprovalDecision, createApproval, sandboxObstacle } from "../../tools/approval/mod.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import { rulesOf } from "../../tools/approval/rules_of.ts";
import { sandboxOf } from "../sandbox.ts";
import type { SubjectSettings } from "../settings.ts";

/** The sandbox of a document, and which calls it approves. */
export interface Confinement {
  readonly status: SandboxStatus;
  /** The settings layer that switches the sandbox on or off. */
  readonly enabledBy: string;
  /** Reason why the sandbox does not lead to automatic approval of `bash`; null if it does. */
  readonly obstacle: string | null;
  /** Names of current environment variables that tools do not get. */
  readonly withheld: readonly string[];
}

export interface ConfinedSubject {
  readonly environment: Environment;
  /** Absolute path of the document; null for the working folder without a document. */
  readonly path: string | null;
  /** The path by which the document was opened, with links unresolved. @default `path` */
  readonly named?: string | null;
  readonly subject: SubjectSettings;
}

/** Tests the sandbox and finds which tools it approves. */
export async function confinement(
  { environment, path, named, subject }: ConfinedSubject,
): Promise<Confinement> {
  const { settings, loaded: { catalog }, logs } = subject;
  // The cache is not used, because the caller wants the present state.
  const sandbox = sandboxOf(environment, { path, named }, subject, { ignoreCache: true });
  const tools = builtinTools(settings.tools);
  const obstacle = await sandboxObstacle("bash", settings.tools, sandbox, {
    hasCapability: (tool, capability) =>
      tools.find(({ name }) => name === tool)?.capabilities?.includes(capability) ?? false,
    effects: () => "writes",
    runs: () => "inside",
    root: Deno.uid() === 0,
  });
  return {
    status: await sandboxStatus(sandbox),
    enabledBy: originOf(logs, catalog, "sandbox.enabled"),
    obstacle,
    withheld: withheldVariables(environment.variables, settings.tools.env, {
      sandboxed: sandbox.enabled,
      kept: sandbox.socketVariables(),
    }),
  };
}

/** A tool, and the policy's decision for a call without any input. */
export interface ToolRow {
  readonly name: string;
  readonly decided: ApprovalDecision;
}

/** Lists every tool by name, with the policy's decision. */
export async function toolRows({ environment, path, named, subject }: ConfinedSubject): Promise<ToolRow[]> {
  const tools = new ToolRegistry();
  tools.registerFrom("built-in", builtinTools(subject.settings.tools));
  const sandbox = sandboxOf(environment, { path, named }, subject);
  const { settings, loaded } = subject;
  const rules = await rulesOf({ settings, tools, sandbox, environment, document: path, loaded });
  const approval = createApproval({ settings: settings.tools, sandbox, tools, rules });
  const context = { toolId: "", document: path, dirname: null, cwd: environment.cwd };
  const rows: ToolRow[] = [];
  for (const { name } of tools.getAll({ includeDisabled: true })) {
    rows.push({ name, decided: await approval.resolveWithSource(name, {}, context) });
  }
  return rows;
}
