// Describes the confinement of a document's tools, and the policy for each tool, without any call.

import type { Environment } from "../../base/environment.ts";
import { type Outcome, success } from "../../base/problem.ts";
import { originOf } from "../../config/layers/explain.ts";
import { type SandboxStatus, sandboxStatus, withheldVariables } from "../../sandbox/mod.ts";
import { type ApprovalDecision, createApproval, sandboxObstacle } from "../../tools/approval/mod.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { rulesOf } from "../../tools/approval/rules_of.ts";
import type { ToolOrigin } from "../../tools/definition.ts";
import { waitForTools } from "../extensions/waiting.ts";
import { sandboxOf } from "../sandbox.ts";
import { registerTools } from "../tools.ts";
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

/** A tool, who registered it, and the policy's decision for a call without any input. */
export interface ToolRow {
  readonly name: string;
  readonly origin: ToolOrigin;
  readonly decided: ApprovalDecision;
}

/** Lists every tool of the program, of modules and of tool files with the policy's decision, by name. Starts no server. */
export async function toolRows(
  { environment, path, named, subject }: ConfinedSubject,
): Promise<Outcome<readonly ToolRow[]>> {
  const { settings, loaded } = subject;
  const sandbox = sandboxOf(environment, { path, named }, subject);
  const withoutServers = { ...settings, mcp: { ...settings.mcp, servers: {} } };
  const registered = await registerTools({ settings: withoutServers, environment, document: path, sandbox });
  if (!registered.ok) return registered;
  const { tools, end } = registered.value;
  try {
    await waitForTools(tools, () => {});
    const rules = await rulesOf({ settings, tools, sandbox, environment, document: path, loaded });
    const approval = createApproval({ settings: settings.tools, sandbox, tools, rules });
    const context = { toolId: "", document: path, dirname: null, cwd: environment.cwd };
    const rows: ToolRow[] = [];
    for (const { name, origin } of tools.getAll({ includeDisabled: true })) {
      rows.push({ name, origin, decided: await approval.resolveWithSource(name, {}, context) });
    }
    return success(rows);
  } finally {
    await end();
  }
}
