// The condition `if` of a hook: a permission rule of Claude Code, such as `Bash(git push *)`. If a rule or a command
// cannot be read, the hook runs, because it could be a guard.

import { expandHome } from "../../../base/paths.ts";
import { readGlob } from "../../../base/text/glob.ts";
import { matchesTool } from "../../../config/hooks/matcher.ts";
import { everyCommand, type ShellLibrary } from "../../../tools/approval/shell/every_command.ts";
import type { ClaudeCall } from "./claude_calls.ts";

/** Inputs for comparing a rule with a call. */
export interface ConditionPlace {
  readonly home: string;
  /** Folder of the project. */
  readonly project: string;
  loadShell(): Promise<ShellLibrary>;
}

/** Returns whether a rule matches a call; also true if that cannot be determined. */
export async function fitsCondition(rule: string, call: ClaudeCall, place: ConditionPlace): Promise<boolean> {
  const parts = /^\s*([\w|-]+)\s*(?:\((.*)\))?\s*$/s.exec(rule);
  if (parts === null) return true;
  const [, name = "", pattern] = parts;
  if (!matchesTool(name, [call.name])) return false;
  if (pattern === undefined || pattern.trim() === "" || pattern.trim() === "*") return true;
  if (call.name === "Bash") return await fitsCommand(pattern.trim(), String(call.input.command), place);
  const path = call.file ?? (typeof call.input.path === "string" ? call.input.path : null);
  return path === null || fitsPath(pattern.trim(), path, place);
}

/** Compares a pattern with every command that a command line may run. */
async function fitsCommand(pattern: string, line: string, { loadShell }: ConditionPlace): Promise<boolean> {
  const { commands, unread } = everyCommand(line, await loadShell());
  if (unread) return true;
  const text = pattern.replace(/:\*$/, " *");
  const open = text.endsWith(" *");
  const expression = (open ? text.slice(0, -2) : text).split("*").map(escaped).join(".*");
  const wanted = new RegExp(`^${expression}${open ? "(?: .*)?" : ""}$`, "s");
  return commands.some(({ words, text }) => {
    if (words.some(({ value }) => value === null)) return true;
    return wanted.test(words.map(({ value }) => value).join(" ")) || wanted.test(text);
  });
}

function fitsPath(pattern: string, path: string, { home, project }: ConditionPlace): boolean {
  const anchored = pattern.startsWith("//")
    ? pattern.slice(1)
    : pattern.startsWith("~/")
    ? expandHome(pattern, home)
    : pattern.includes("/")
    ? `${project}/${pattern.replace(/^\.?\//, "")}`
    : `/**/${pattern}`;
  const glob = readGlob(anchored);
  return !glob.ok || glob.value.matches(path);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
