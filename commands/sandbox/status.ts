// `flemma sandbox status`: shows whether and how tools are confined here.

import { statusExitCode } from "../../sandbox/mod.ts";
import { confinement } from "../../agent/views/confinement.ts";
import { renderConfinement } from "./confinement.ts";
import { readSubject, settingsFor } from "../document/read.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const subject = await readSubject(invocation, invocation.arguments.positionals[0]);
  if ("exit" in subject) return subject.exit;
  const evaluated = await settingsFor(invocation, subject);
  if (!evaluated.ok) return refuse(invocation, evaluated.problem);
  const { path, named } = subject;
  const found = await confinement({
    environment: evaluated.value.environment,
    path,
    named,
    subject: evaluated.value,
  });
  const { status, enabledBy, obstacle, withheld } = found;
  if (switchOption(invocation.arguments, "json") === true) {
    const auto_approval = { bash: obstacle === null, because: obstacle };
    writeOutput(`${safeJson({ ...status, withheld, enabled_by: enabledBy, auto_approval })}\n`);
  } else writeLines(renderConfinement(found));
  return statusExitCode(status);
}
