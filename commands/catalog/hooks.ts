// `flemma hooks list`: lists hooks, the files that define them, and where each runs.

import { blocksOf } from "../../agent/settings.ts";
import type { Hook, UnsupportedHook } from "../../config/hooks/definition.ts";
import { readForReport, settingsFor } from "../document/read.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, messages } = invocation;
  const [file] = given.positionals;
  const opened = file === undefined ? null : await readForReport(invocation, file);
  if (opened !== null && "exit" in opened) return opened.exit;
  const subject = await settingsFor(invocation, {
    path: opened?.path ?? null,
    ...blocksOf(opened?.chat ?? null),
  });
  if (!subject.ok) return refuse(invocation, subject.problem);
  const { settings, loaded } = subject.value;
  for (const notice of loaded.hooks?.notices ?? []) {
    // The list has them.
    if (notice.code !== "hooks-unsupported") messages.notice(notice);
  }
  const hooks = loaded.hooks?.hooks ?? [];
  const unsupported = loaded.hooks?.unsupported ?? [];
  if (switchOption(given, "json") === true) {
    writeOutput(`${safeJson({ hooks: hooks.map(asJson), unsupported: unsupported.map(leftOutAsJson) })}\n`);
    return Exit.ok;
  }
  const lines = [...hooks.flatMap(linesOf), ...unsupported.flatMap(leftOutLines)];
  writeLines(lines.map((line) => `${line}\n`).join(""));
  if (!settings.hooks.enabled) messages.note("Hooks are disabled in the settings (hooks.enabled).");
  else if (lines.length === 0) messages.note("There are no hooks for this folder.");
  return Exit.ok;
}

function linesOf(hook: Hook): string[] {
  const { event, matcher, condition, name, command, file, timeout } = hook;
  const limits = [
    ...(matcher === "" ? [] : [`matcher ${matcher}`]),
    ...(condition === null ? [] : [`if ${condition}`]),
    `${timeout} seconds`,
    ...(hook.onFailure === "allow" ? ["onFailure: allow"] : []),
  ];
  return [
    `${event}  ${name}  ${limits.join(", ")}`,
    ...(command === "" ? [] : [`    ${command}`]),
    `    ${whereOf(hook)}`,
    `    ${file}`,
  ];
}

/** Where a hook runs, and why. */
function whereOf({ fault, outside, owner }: Hook): string {
  if (fault !== null) return `does not run: ${fault}`;
  if (outside) {
    return "runs outside the sandbox, because its entry says sandbox: false; whatever it starts in the project can do everything";
  }
  return owner === "project"
    ? "runs in the sandbox, because it belongs to the project"
    : "runs in the sandbox, as every hook without sandbox: false in your own settings";
}

function leftOutLines({ place, why, file }: UnsupportedHook): string[] {
  return [`${place}  not run`, `    ${why}`, `    ${file}`];
}

function asJson(
  { event, name, matcher, condition, command, timeout, onFailure, outside, fault, owner, file, place }: Hook,
) {
  const runs = fault !== null ? "no" : outside ? "outside" : "inside";
  return {
    event,
    name,
    matcher,
    if: condition,
    command,
    timeout,
    on_failure: onFailure,
    runs,
    fault,
    owner,
    file,
    place,
  };
}

function leftOutAsJson({ place, why, owner, file }: UnsupportedHook) {
  return { place, why, owner, file };
}
