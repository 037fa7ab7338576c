// `flemma sandbox status`: whether and how tools are confined here.

import { createSandbox, renderStatus, sandboxStatus, statusExitCode } from "../sandbox/mod.ts";
import { protectedPaths } from "../cycle/session/paths.ts";
import { sandboxObstacle } from "../tools/approval/mod.ts";
import { builtinTools } from "../tools/builtin/mod.ts";
import { visible } from "../tools/visible.ts";
import { documentPath } from "./document.ts";
import { refuse } from "./drive.ts";
import type { Invocation } from "./invocation.ts";
import { switchOption } from "./options.ts";
import { safeJson } from "./safe_json.ts";
import { settingsOf } from "./settings.ts";
import { writeOutput } from "./streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { environment } = invocation;
  const given = invocation.arguments;
  const document = documentPath(environment, given.positionals[0]);
  if (!document.ok) return refuse(invocation, document.problem);
  const loaded = await settingsOf(given, environment, document.value);
  if (!loaded.ok) return refuse(invocation, loaded.problem);
  const { settings, files, origin } = loaded.value;
  const sandbox = createSandbox({
    settings: settings.sandbox,
    environment,
    document: document.value,
    protect: protectedPaths({ environment, document: document.value, configFiles: files }),
  });
  const status = await sandboxStatus(sandbox);
  const tools = builtinTools(settings.tools);
  const facts = {
    hasCapability: (tool: string, capability: string) =>
      tools.find(({ name }) => name === tool)?.capabilities?.includes(capability) ?? false,
    root: Deno.uid() === 0,
  };
  const obstacle = await sandboxObstacle("bash", settings.tools, sandbox, facts);
  const layer = origin("sandbox.enabled");
  if (switchOption(given, "json") === true) {
    const auto_approval = { bash: obstacle === null, because: obstacle };
    writeOutput(`${safeJson({ ...status, enabled_by: layer, auto_approval })}\n`);
  } else {
    const approval = obstacle === null ? "bash runs without asking" : `bash asks first: ${obstacle}`;
    const text = `${renderStatus(status)}set by    ${layer}\napproval  ${approval}\n`;
    writeOutput(visible(text, { lines: true }));
  }
  return statusExitCode(status);
}
