// `flemma sandbox compare`: shows what bubblewrap and Landlock would do for a command, and where they differ.

import { sandboxOptionsOf } from "../../agent/sandbox.ts";
import type { Problem } from "../../base/problem.ts";
import { compareSandboxes, type SandboxComparison } from "../../sandbox/mod.ts";
import { readSubject, settingsFor } from "../document/read.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { positionals, rest } = invocation.arguments;
  const subject = await readSubject(invocation, positionals[0]);
  if ("exit" in subject) return subject.exit;
  const evaluated = await settingsFor(invocation, subject);
  if (!evaluated.ok) return refuse(invocation, evaluated.problem);
  const options = sandboxOptionsOf(evaluated.value.environment, subject, evaluated.value);
  const compared = await compareSandboxes(options, rest);
  if (!compared.ok) return refuse(invocation, compared.problem);
  if (switchOption(invocation.arguments, "json") === true) writeOutput(`${safeJson(compared.value)}\n`);
  else writeLines(renderComparison(compared.value));
  return Exit.ok;
}

/** Formats a comparison for people. */
function renderComparison({ command, bwrap, landlock, difference }: SandboxComparison): string {
  const lines = [`command    ${command.join(" ")}`, "", "bubblewrap"];
  lines.push(
    ...bwrap.error === null ? optionLines(bwrap.arguments, command.length) : errorLines(bwrap.error),
  );
  const { kind, abi, rules, error } = landlock;
  lines.push("", kind === null ? "landlock" : `landlock   ${kind}, ABI ${abi}`);
  if (error !== null) lines.push(...errorLines(error));
  for (const { path, rights } of rules.toSorted((a, b) => a.path < b.path ? -1 : 1)) {
    const word = rights.includes("write_file") ? "write" : rights.includes("read_file") ? "read" : "list";
    lines.push(`  ${word.padEnd(6)} ${path}`);
  }
  if (error !== null) return `${lines.join("\n")}\n`;
  const { restored, notCovered } = difference;
  lines.push("", "difference under Landlock");
  for (const path of restored.toSorted()) lines.push(`  restored after the command, not read-only: ${path}`);
  for (const line of notCovered) lines.push(`  ${line}`);
  return `${lines.join("\n")}\n`;
}

function errorLines({ message, next }: Problem): string[] {
  return [`  ${message}`, ...(next === undefined ? [] : [`  ${next}`])];
}

/** One option of bubblewrap per line, with its values. */
function optionLines(list: readonly string[], commandLength: number): string[] {
  const lines: string[] = [];
  for (const word of list.slice(1, list.length - commandLength)) {
    if (word.startsWith("--") || lines.length === 0) lines.push(`  ${word}`);
    else lines.push(`${lines.pop()} ${word}`);
  }
  return lines;
}
