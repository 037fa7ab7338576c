// `flemma sandbox status`: whether and how tools are confined here.

import { createSandbox, renderStatus, sandboxStatus, statusExitCode } from "../sandbox/mod.ts";
import { originOf } from "../config/inspect.ts";
import { protectedPaths } from "../cycle/session/paths.ts";
import { sandboxObstacle } from "../tools/approval/mod.ts";
import { builtinTools } from "../tools/builtin/mod.ts";
import { visible } from "../tools/visible.ts";
import { readSubject } from "./document.ts";
import { subjectSettings } from "./document_settings.ts";
import type { Invocation } from "./invocation.ts";
import { switchOption } from "./options.ts";
import { safeJson } from "./safe_json.ts";
import { writeOutput } from "./streams.ts";
import { refuse } from "./refuse.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { environment } = invocation;
  const given = invocation.arguments;
  const subject = await readSubject(invocation, given.positionals[0]);
  if ("exit" in subject) return subject.exit;
  const evaluated = await subjectSettings(invocation, subject);
  if (!evaluated.ok) return refuse(invocation, evaluated.problem);
  const { settings, loaded: { files, catalog }, logs } = evaluated.value;
  const sandbox = createSandbox({
    settings: settings.sandbox,
    environment,
    document: subject.path,
    protect: protectedPaths({ environment, document: subject.path, configFiles: files }),
  });
  const status = await sandboxStatus(sandbox);
  const tools = builtinTools(settings.tools);
  const facts = {
    hasCapability: (tool: string, capability: string) =>
      tools.find(({ name }) => name === tool)?.capabilities?.includes(capability) ?? false,
    root: Deno.uid() === 0,
  };
  const obstacle = await sandboxObstacle("bash", settings.tools, sandbox, facts);
  const layer = originOf(logs, catalog, "sandbox.enabled");
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
