// Parsing of approval rules in both forms, with all their errors.

import { isObject } from "../../base/is_object.ts";
import { nearest } from "../../base/names.ts";
import { failed, type Outcome, success } from "../../base/problem.ts";
import { builtinFact } from "./builtin_tools.ts";
import { type CommandPattern, hasWildcard, literalOf, readCommandPattern } from "./command_pattern.ts";
import { type PathPattern, readPathPattern } from "./path_pattern.ts";
import type { Rule } from "./rule.ts";
import { isRunner } from "./runners.ts";

export interface RuleFault {
  /** The member with the error; null for the rule as a whole. */
  readonly member: string | null;
  readonly isUnknown?: boolean;
  readonly suggestion?: string;
  /** The error as the end of a sentence. */
  readonly message: string;
}

type Decision = Rule["decision"];
const DECISIONS: readonly Decision[] = ["approve", "ask", "deny"];
const TEXTS = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] };
const CONDITIONS: Readonly<Record<keyof Omit<Rule, "decision" | "tools">, object>> = {
  command: TEXTS,
  path: TEXTS,
  within: TEXTS,
  input: { type: "object" },
  env: TEXTS,
  allow_runner: { type: "boolean" },
  sandboxed: { type: "boolean" },
  reason: { type: "string" },
};
/** The members of a rule, each with its JSON schema. */
export const RULE_MEMBERS: Readonly<Record<string, object>> = {
  ...Object.fromEntries(DECISIONS.map((decision) => [decision, TEXTS])),
  ...CONDITIONS,
};

/** Parses a rule in the table form of `tools.rules`. */
export function readRule(value: unknown): Outcome<Rule, readonly RuleFault[]> {
  if (!isObject(value)) {
    return failed([whole("it must be a table such as { approve: bash, command: [git status] }")]);
  }
  return new RuleReader(value).read();
}

class RuleReader {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #faults: RuleFault[] = [];

  constructor(value: Readonly<Record<string, unknown>>) {
    this.#value = value;
  }

  read(): Outcome<Rule, readonly RuleFault[]> {
    this.#unknownMembers();
    const decision = this.#decision();
    const { command, path, within } = this.#patterns(decision);
    const rule: Rule = {
      decision,
      tools: this.#tools(decision),
      ...(command === undefined ? {} : { command }),
      ...(path === undefined ? {} : { path }),
      ...(within === undefined ? {} : { within }),
      ...this.#input(),
      ...this.#env(),
      ...this.#allowance(decision),
      ...this.#reason(),
    };
    return this.#faults.length > 0 ? failed(this.#faults) : success(rule);
  }

  #wrong(message: string, member: string): void {
    this.#faults.push({ member, message });
  }

  #unknownMembers(): void {
    for (const member of Object.keys(this.#value)) {
      if (Object.hasOwn(RULE_MEMBERS, member)) continue;
      const suggestion = nearest(member, Object.keys(RULE_MEMBERS)) ?? undefined;
      this.#faults.push({ member, isUnknown: true, message: "is not a member of a rule", suggestion });
    }
  }

  #decision(): Decision {
    const decisions = DECISIONS.filter((decision) => this.#value[decision] !== undefined);
    if (decisions.length !== 1) {
      const found = decisions.join(" and ") || "none";
      this.#faults.push(whole(`it needs exactly one of approve, ask and deny, found ${found}`));
    }
    return decisions[0] ?? "ask";
  }

  #tools(decision: Decision): readonly string[] {
    const tools = this.#texts(decision) ?? [];
    for (const name of tools) {
      if (name === "*" && decision === "approve") {
        this.#wrong("takes tool names; * would approve everything", decision);
      } else if (name !== "*" && !/^[\w:.-]+$/.test(name)) {
        this.#wrong(`"${name}" is not a tool name`, decision);
      }
    }
    return tools;
  }

  /** Reads a string or a list of strings; undefined if it is missing or wrong. */
  #texts(member: string): readonly string[] | undefined {
    const given = this.#value[member];
    if (given === undefined || given === null) return undefined;
    const list: unknown = typeof given === "string" ? [given] : given;
    const isText = (item: unknown) => typeof item === "string" && item !== "";
    if (Array.isArray(list) && list.length > 0 && list.every(isText)) return list as string[];
    this.#wrong("must be a non-empty string or a list of such strings", member);
    return undefined;
  }

  #patterns(decision: Decision) {
    const command = this.#read("command", readCommandPattern);
    const path = this.#read("path", readPathPattern);
    const within = this.#read("within", readPathPattern);
    for (const pattern of command ?? []) {
      const refused = refusal(pattern, decision, this.#value.allow_runner === true);
      if (refused !== null) this.#wrong(refused, "command");
    }
    for (const [member, found] of [["path", path], ["within", within]] as const) {
      if (found !== undefined && found.every(({ excludes }) => excludes)) {
        this.#wrong("only excludes paths; first name paths to include, for example ./**", member);
      }
    }
    if (within !== undefined && this.#value.command === undefined) {
      this.#wrong("is allowed only together with command", "within");
    }
    if (command !== undefined && path !== undefined) {
      this.#faults.push(whole("command and path belong to different tools; write two rules"));
    }
    return { command, path, within };
  }

  #read<T>(member: string, read: (text: string) => Outcome<T, string>): readonly T[] | undefined {
    return this.#texts(member)?.flatMap((text) => {
      const found = read(text);
      if (found.ok) return [found.value];
      this.#wrong(`"${text}" is not a valid pattern: ${found.problem}`, member);
      return [];
    });
  }

  #input(): Pick<Rule, "input"> {
    const { input } = this.#value;
    if (input === undefined || input === null) return {};
    if (isObject(input)) {
      return { input: Object.fromEntries(Object.entries(input).map(([name, one]) => [name, [one].flat()])) };
    }
    this.#wrong("must be a table of members and their values", "input");
    return {};
  }

  #env(): Pick<Rule, "env"> {
    const env = this.#texts("env");
    for (const name of env ?? []) {
      if (!/^[A-Za-z_]\w*$/.test(name)) this.#wrong(`"${name}" is not a variable name`, "env");
    }
    return env === undefined ? {} : { env };
  }

  /** Reads members that loosen a rule; only a rule that approves may have such members. */
  #allowance(decision: Decision): Pick<Rule, "allow_runner" | "sandboxed"> {
    for (const member of ["within", "env", "allow_runner", "sandboxed"]) {
      const isGiven = this.#value[member] !== undefined;
      if (decision !== "approve" && isGiven) this.#wrong("is allowed only in rules that approve", member);
    }
    return { ...this.#switch("allow_runner"), ...this.#switch("sandboxed") };
  }

  #switch<Member extends "allow_runner" | "sandboxed">(member: Member): { readonly [M in Member]?: true } {
    const given = this.#value[member];
    if (given !== undefined && typeof given !== "boolean") this.#wrong("must be true or false", member);
    return given === true ? { [member]: given } as { readonly [M in Member]?: true } : {};
  }

  #reason(): Pick<Rule, "reason"> {
    const { reason } = this.#value;
    if (reason === undefined || reason === null) return {};
    if (typeof reason === "string" && reason !== "") return { reason };
    this.#wrong("must be a string", "reason");
    return {};
  }
}

export function isShortRule(item: string): boolean {
  return item.includes("(") || item.includes(")");
}

/** True if a tool takes commands; short rules of all other tools are about paths. */
export type TakesCommand = (tool: string) => boolean;

export function isCommandTool(tool: string): boolean {
  return builtinFact(tool.toLowerCase())?.takesCommand === true;
}

/** A rule in the table form of `tools.rules`. */
export type WrittenRule = Readonly<Record<string, unknown>>;

/**
 * Parses the short form `bash(git status **, git log)`: a comma and a space separate patterns; a comma within one is
 * written `\,`.
 */
export function readShortRule(
  item: string,
  decision: Decision,
  takesCommand?: TakesCommand,
): Outcome<Rule, readonly RuleFault[]> {
  const table = shortRuleTable(item, decision, takesCommand);
  return table.ok ? readRule(table.value) : table;
}

export function shortRuleTable(
  item: string,
  decision: Decision,
  takesCommand: TakesCommand = isCommandTool,
): Outcome<WrittenRule, readonly RuleFault[]> {
  const found = /^([\w:.-]+)\((.*)\)$/s.exec(item);
  if (found === null) return failed([whole("write a rule as tool(pattern, pattern)")]);
  const [, tool = "", inner = ""] = found;
  const parts = splitPatterns(inner);
  if (parts.every((part) => part === "")) return failed([whole("it contains no pattern")]);
  return success({ [decision]: tool, [takesCommand(tool) ? "command" : "path"]: parts });
}

function splitPatterns(text: string): string[] {
  return text.split(/(?<!\\),(?: |$)/).map((part) => part.replaceAll("\\,", ",").trim());
}

/** Returns why an approval must not have this pattern; null if it may. */
function refusal(pattern: CommandPattern, decision: Decision, allowRunner: boolean): string | null {
  const first = literalOf(pattern.words[0]);
  if (decision !== "approve") return null;
  if (first === null) return `"${pattern.text}" begins with a wildcard; name the program`;
  if (!hasWildcard(pattern) || allowRunner || !isRunner(first)) return null;
  return `"${pattern.text}" approves everything that ${first} starts; write the whole command without a wildcard, ` +
    "or add allow_runner: true";
}

function whole(message: string): RuleFault {
  return { member: null, message };
}

/** Formats a rule as one line for people, in the short form if possible. */
export function ruleText(rule: Rule): string {
  const { decision, tools, command, path, within, input, sandboxed } = rule;
  const list = (found: readonly (CommandPattern | PathPattern)[] | undefined) =>
    found === undefined ? "" : `(${found.map(({ text }) => text).join(", ")})`;
  const inside = within === undefined ? "" : ` within ${within.map(({ text }) => text).join(", ")}`;
  const members = Object.entries(input ?? {}).map(([name, values]) =>
    `, only with ${name} = ${values.map((value) => JSON.stringify(value)).join(" or ")}`
  ).join("");
  const confined = sandboxed === true ? ", in the sandbox" : "";
  return `${decision} ${tools.join(", ")}${list(command ?? path)}${inside}${members}${confined}`;
}
