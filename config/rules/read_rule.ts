// Reads an approval rule in either of its forms, or says everything that is wrong with it (approval 9).

import { isObject } from "../../base/is_object.ts";
import { nearest } from "../../base/nearest.ts";
import { failed, type Outcome, success } from "../../base/problem.ts";
import { type CommandPattern, hasWildcard, literalOf, readCommandPattern } from "./command_pattern.ts";
import { type PathPattern, readPathPattern } from "./path_pattern.ts";
import type { Rule } from "./rule.ts";
import { isRunner } from "./runners.ts";

/** One thing that is wrong with a rule. */
export interface RuleFault {
  /** The member at fault; null for the rule as a whole. */
  readonly member: string | null;
  /** Whether the member is unknown. */
  readonly isUnknown?: boolean;
  /** The nearest right word. */
  readonly suggestion?: string;
  /** What is wrong, as the end of a sentence. */
  readonly message: string;
}

type Decision = Rule["decision"];
const DECISIONS: readonly Decision[] = ["approve", "ask", "deny"];
/** The members a rule may have. */
export const RULE_MEMBERS: readonly string[] = [
  ...DECISIONS,
  "command",
  "path",
  "within",
  "input",
  "env",
  "allow_runner",
  "reason",
];

/** Reads a rule as `tools.rules` has it: a table. */
export function readRule(value: unknown): Outcome<Rule, readonly RuleFault[]> {
  if (!isObject(value)) {
    return failed([whole("it must be a table such as { approve: bash, command: [git status] }")]);
  }
  const faults: RuleFault[] = [];
  const wrong = (member: string, message: string) => faults.push({ member, message });
  for (const name of Object.keys(value)) {
    if (RULE_MEMBERS.includes(name)) continue;
    const suggestion = nearest(name, RULE_MEMBERS) ?? undefined;
    faults.push({ member: name, isUnknown: true, message: "is no member of a rule", suggestion });
  }
  const said = DECISIONS.filter((decision) => value[decision] !== undefined);
  if (said.length !== 1) {
    faults.push(
      whole(`it needs exactly one of approve, ask and deny, found ${said.join(" and ") || "none"}`),
    );
  }
  const [decision = "ask"] = said;
  const texts = (member: string): readonly string[] | undefined => {
    const given = value[member];
    if (given === undefined || given === null) return undefined;
    const list = typeof given === "string" ? [given] : given;
    if (
      Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === "string" && item !== "")
    ) {
      return list as string[];
    }
    wrong(member, "must be a text or a list of texts that are not empty");
    return undefined;
  };
  const tools = texts(decision) ?? [];
  for (const name of tools) {
    if (name === "*" && decision !== "approve") continue;
    if (!/^[\w:.-]+$/.test(name)) {
      wrong(
        decision,
        name === "*" ? "takes names of tools; * would approve everything" : `"${name}" is no name of a tool`,
      );
    }
  }
  const allowRunner = value.allow_runner === true;
  const command = patterns(
    texts("command"),
    readCommandPattern,
    (text, message) => wrong("command", `"${text}" is no pattern: ${message}`),
  );
  const path = patterns(
    texts("path"),
    readPathPattern,
    (text, message) => wrong("path", `"${text}" is no pattern: ${message}`),
  );
  const within = patterns(
    texts("within"),
    readPathPattern,
    (text, message) => wrong("within", `"${text}" is no pattern: ${message}`),
  );
  for (const pattern of command ?? []) {
    const refused = refusal(pattern, decision, allowRunner);
    if (refused !== null) wrong("command", refused);
  }
  for (const [member, found] of [["path", path], ["within", within]] as const) {
    if (found !== undefined && found.every(({ excludes }) => excludes)) {
      wrong(member, "only takes paths out; name first what it holds, for example ./**");
    }
  }
  for (const member of ["within", "env", "allow_runner"]) {
    if (decision !== "approve" && value[member] !== undefined) wrong(member, "belongs to rules that approve");
  }
  if (value.allow_runner !== undefined && typeof value.allow_runner !== "boolean") {
    wrong("allow_runner", "must be true or false");
  }
  if (value.reason !== undefined && (typeof value.reason !== "string" || value.reason === "")) {
    wrong("reason", "must be a text");
  }
  const env = texts("env");
  for (const name of env ?? []) {
    if (!/^[A-Za-z_]\w*$/.test(name)) wrong("env", `"${name}" is no name of a variable`);
  }
  if (value.input !== undefined && !isObject(value.input)) {
    wrong("input", "must be a table of members and their values");
  }
  if (within !== undefined && value.command === undefined) wrong("within", "stands beside command");
  if (command !== undefined && path !== undefined) {
    faults.push(whole("command and path belong to different tools; write two rules"));
  }
  if (faults.length > 0) return failed(faults);
  return success({
    decision,
    tools,
    ...(command === undefined ? {} : { command }),
    ...(path === undefined ? {} : { path }),
    ...(within === undefined ? {} : { within }),
    ...(isObject(value.input)
      ? { input: Object.fromEntries(Object.entries(value.input).map(([name, one]) => [name, [one].flat()])) }
      : {}),
    ...(env === undefined ? {} : { env }),
    ...(allowRunner ? { allow_runner: true } : {}),
    ...(typeof value.reason === "string" ? { reason: value.reason } : {}),
  });
}

/** Whether an item of a list of tools is a rule in its short form. */
export function isShortRule(item: string): boolean {
  return item.includes("(") || item.includes(")");
}

/** The tools that take commands; every other tool's short form is about its path. */
export type TakesCommand = (tool: string) => boolean;

/**
 * Reads the short form `bash(git status **, git log)`: patterns are separated by a comma and a blank; a comma inside one
 * is written `\,`.
 */
export function readShortRule(
  item: string,
  decision: Decision,
  takesCommand: TakesCommand = (tool) => tool.toLowerCase() === "bash",
): Outcome<Rule, readonly RuleFault[]> {
  const found = /^([\w:.-]+)\((.*)\)$/s.exec(item);
  if (found === null) return failed([whole("a rule is written tool(pattern, pattern)")]);
  const [, tool = "", inner = ""] = found;
  const parts = splitPatterns(inner);
  if (parts.every((part) => part === "")) return failed([whole("it holds no pattern")]);
  return readRule({ [decision]: tool, [takesCommand(tool) ? "command" : "path"]: parts });
}

/** The patterns of a short form. */
function splitPatterns(text: string): string[] {
  return text.split(/(?<!\\),(?: |$)/).map((part) => part.replaceAll("\\,", ",").trim());
}

/** Why an approval may not have this pattern; null when it may. */
function refusal(pattern: CommandPattern, decision: Decision, allowRunner: boolean): string | null {
  const first = literalOf(pattern.words[0]);
  if (decision !== "approve") return null;
  if (first === null) return `"${pattern.text}" begins with a wildcard; name the program`;
  if (!hasWildcard(pattern) || allowRunner || !isRunner(first)) return null;
  return `"${pattern.text}" approves whatever ${first} runs; write the whole command without a wildcard, ` +
    "or allow_runner: true beside it";
}

function patterns<T>(
  texts: readonly string[] | undefined,
  read: (text: string) => Outcome<T, string>,
  wrong: (text: string, message: string) => void,
): readonly T[] | undefined {
  return texts?.flatMap((text) => {
    const found = read(text);
    if (!found.ok) wrong(text, found.problem);
    return found.ok ? [found.value] : [];
  });
}

function whole(message: string): RuleFault {
  return { member: null, message };
}

/** A rule as one line that a person can read; the short form where it has one. */
export function ruleText(rule: Rule): string {
  const { decision, tools, command, path, within } = rule;
  const list = (found: readonly (CommandPattern | PathPattern)[] | undefined) =>
    found === undefined ? "" : `(${found.map(({ text }) => text).join(", ")})`;
  const inside = within === undefined ? "" : ` within ${within.map(({ text }) => text).join(", ")}`;
  return `${decision} ${tools.join(", ")}${list(command ?? path)}${inside}`;
}
