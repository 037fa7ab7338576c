// How the tools of one document are confined, as `sandbox status` and `doctor` tell it.

import { hostOf } from "../host.ts";
import { originOf } from "../../config/layers/explain.ts";
import { renderStatus, type SandboxStatus, sandboxStatus } from "../../sandbox/mod.ts";
import { sandboxObstacle } from "../../tools/approval/mod.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import type { SubjectSettings } from "../../agent/settings.ts";
import type { Invocation } from "../invocation.ts";
import { sandboxOf } from "../../agent/sandbox.ts";

export interface Confinement {
  readonly status: SandboxStatus;
  /** The layer that says whether the sandbox is on. */
  readonly enabledBy: string;
  /** Why the sandbox does not approve `bash` by itself; null when it does. */
  readonly obstacle: string | null;
}

/** Probes the sandbox and asks what it approves. */
export async function confinement(
  invocation: Invocation,
  path: string | null,
  subject: SubjectSettings,
): Promise<Confinement> {
  const { settings, loaded: { catalog }, logs } = subject;
  const sandbox = sandboxOf(hostOf(invocation), path, subject);
  const tools = builtinTools(settings.tools);
  const obstacle = await sandboxObstacle("bash", settings.tools, sandbox, {
    hasCapability: (tool, capability) =>
      tools.find(({ name }) => name === tool)?.capabilities?.includes(capability) ?? false,
    root: Deno.uid() === 0,
  });
  return {
    status: await sandboxStatus(sandbox),
    enabledBy: originOf(logs, catalog, "sandbox.enabled"),
    obstacle,
  };
}

/** For people, one fact a line. */
export function renderConfinement({ status, enabledBy, obstacle }: Confinement): string {
  const approval = obstacle === null ? "bash runs without asking" : `bash asks first: ${obstacle}`;
  return `${renderStatus(status)}set by    ${enabledBy}\napproval  ${approval}\n`;
}
