// Evaluates all rules for one call: which rule asks or denies, and which approves.

import { resolvePath } from "../../../base/paths.ts";
import { sameValue } from "../../../config/layers/log.ts";
import { builtinFact } from "../../../config/rules/builtin_tools.ts";
import type { PlacedRule, Rule } from "../../../config/rules/rule.ts";
import { isBounded, type RegisteredTool } from "../../definition.ts";
import { everyCommand, type ShellLibrary } from "../shell/every_command.ts";
import { readStrictly } from "../shell/read.ts";
import { evaluateCommands } from "./approve_command.ts";
import { type CheckedPath, fitsPatterns, neverApproved, type PatternBase, reachesBelow } from "./paths.ts";
import { matchCommand } from "./restrict_command.ts";
import type { EvaluatedCommand, RuleEvaluation } from "./types.ts";
import type { RuleWorld } from "./world.ts";

/** Facts about a tool that rules need. */
export type RuledTool = Partial<
  Pick<RegisteredTool, "command_input" | "path_input" | "files" | "searches" | "effects" | "runs">
>;

/** Inputs for evaluating rules. */
export interface RuleParts {
  readonly rules: readonly PlacedRule[];
  /** Takes a snapshot of the file system; called once for each call. */
  worldNow(): RuleWorld;
  /** Returns the absolute folder in which a tool's commands start, or that paths in its calls are relative to. */
  folderOf(tool: string): string;
  /** Returns the folder to which relative patterns of a rule are relative. */
  baseOf(rule: PlacedRule): PatternBase;
  /** Returns what is known about a tool; undefined if no tool has this name. */
  tool(name: string): RuledTool | undefined;
  /** True if `cd` may look for folders elsewhere, because commands have `CDPATH`. */
  readonly searchesFolders: boolean;
  /** The shell that runs commands, if it is not bash. */
  readonly otherShell: string | null;
  /** True if a sandbox works; asked only if a rule depends on it. */
  isSandboxed(): Promise<boolean>;
  /** Loads the command parser. */
  loadShell(): Promise<ShellLibrary>;
}

/** `RuleParts` with the snapshot of one call. */
interface EvaluationContext extends RuleParts {
  readonly world: RuleWorld;
}

type Input = Readonly<Record<string, unknown>>;

/** Evaluates one call. It runs nothing, and loads the command parser only if a rule is about commands. */
export async function evaluateCall(name: string, input: Input, given: RuleParts): Promise<RuleEvaluation> {
  const parts: EvaluationContext = { ...given, world: given.worldNow() };
  const about = parts.rules.filter(({ rule }) =>
    (rule.tools.includes(name) || rule.tools.includes("*")) && fitsInput(rule, input)
  );
  const isInside = isBounded(parts.tool(name));
  const bare = about.some(({ rule }) => rule.sandboxed === true) &&
    !(isInside && await parts.isSandboxed());
  const rules = bare ? about.filter(({ rule }) => rule.sandboxed !== true) : about;
  const call = callOf(name, input, parts);
  const shell = call.command !== null && about.some(({ rule }) => rule.command !== undefined)
    ? parsingOnce(await parts.loadShell())
    : null;
  const reading = call.searches === "contents"
    ? parts.rules.filter((placed) => isAboutReading(placed, name))
    : [];
  const restriction = restrictionOf([...rules, ...reading], call, shell, parts) ??
    shownBelow([...rules, ...reading], call, parts);
  const approval = approvalOf(rules, call, shell, parts);
  if (!bare || approval.approved) return { restriction, path: call.path, ...approval };
  const { approval: inside } = approvalOf(about, call, shell, parts);
  const why = inside === null
    ? approval.why
    : isInside
    ? "a rule approves it only in the sandbox, which does not work here"
    : "a rule approves it only in the sandbox, where it does not run";
  return { restriction, path: call.path, ...approval, why };
}

/** Caches parsed texts: a command is read twice, once for approvals and once for rules that ask or deny. */
function parsingOnce({ parse, forEachChild }: ShellLibrary): ShellLibrary {
  const known = new Map<string, ReturnType<typeof parse>>();
  return {
    forEachChild,
    parse(source) {
      const tree = known.get(source) ?? parse(source);
      known.set(source, tree);
      return tree;
    },
  };
}

/** A call as rules see it. */
interface Call {
  readonly name: string;
  readonly tool: RuledTool;
  readonly command: string | null;
  readonly path: { readonly asked: string; readonly real: string | null } | null;
  /** What the tool searches. If it does not say so and replaces a built-in tool, what the built-in tool searches. */
  readonly searches: RuledTool["searches"];
}

function callOf(name: string, input: Input, { tool: find, folderOf, world }: EvaluationContext): Call {
  const tool = find(name) ?? {};
  // A rule about a built-in tool also applies to a tool that replaces the built-in one.
  const searches = tool.searches ?? builtinFact(name)?.searches;
  const command = tool.command_input === undefined ? null : input[tool.command_input];
  const named = tool.path_input === undefined
    ? null
    : input[tool.path_input] ?? (searches === undefined ? null : ".");
  const asked = typeof named === "string" && named !== ""
    ? resolvePath(named, { folder: folderOf(name), home: world.home })
    : null;
  return {
    name,
    tool,
    command: typeof command === "string" ? command : null,
    path: asked === null ? null : { asked, real: world.real(asked, "/") },
    searches,
  };
}

function fitsInput({ input }: Rule, given: Input): boolean {
  return Object.entries(input ?? {}).every(([name, values]) =>
    Object.hasOwn(given, name) && values.some((value) => sameValue(value, given[name]))
  );
}

/** Returns the strictest rule that asks or denies. */
function restrictionOf(
  rules: readonly PlacedRule[],
  call: Call,
  shell: ShellLibrary | null,
  parts: EvaluationContext,
): RuleEvaluation["restriction"] {
  const isAsked = rules.some(({ rule }) => rule.decision !== "approve" && rule.command !== undefined);
  const reading = !isAsked || shell === null || call.command === null
    ? null
    : everyCommand(call.command, shell);
  let found: RuleEvaluation["restriction"] = null;
  for (const placed of rules) {
    const { rule } = placed;
    if (rule.decision === "approve") continue;
    let part = call.name;
    let unsure: string | null = null;
    if (rule.command !== undefined) {
      if (reading === null || call.command === null) continue;
      const match = matchCommand(rule.command, call.command, reading);
      if (match === null) continue;
      part = match.part;
      if (!match.sure) unsure = "the command cannot be parsed completely";
    } else if (rule.path !== undefined) {
      if (call.path === null) continue;
      const checked = { asked: call.path.asked, real: call.path.real ?? call.path.asked };
      const how = { base: parts.baseOf(placed), reading: "restrict", world: parts.world } as const;
      if (!fitsPatterns(rule.path, checked, how)) continue;
      part = call.path.asked;
    }
    const denies = rule.decision === "deny" && unsure === null;
    const decision = denies ? "deny" : "require_approval";
    if (found === null || (denies && found.decision !== "deny")) {
      found = { decision, rule: placed, part, unsure: rule.decision === "deny" ? unsure : null };
    }
    if (denies) break;
  }
  return found;
}

/** True if a rule asks about or denies reading paths without naming this tool. */
function isAboutReading({ rule }: PlacedRule, name: string): boolean {
  const reads = (tool: string) => {
    const fact = builtinFact(tool);
    return fact?.reads === true && fact.searches === undefined;
  };
  return rule.decision !== "approve" && rule.path !== undefined && rule.tools.some(reads) &&
    !rule.tools.includes(name) && !rule.tools.includes("*");
}

/**
 * Returns the rule that a search of a folder could bypass, because the folder may contain paths that the rule
 * restricts. Each of these paths is not checked, so the person is asked.
 */
function shownBelow(
  rules: readonly PlacedRule[],
  { searches, path }: Call,
  parts: EvaluationContext,
): RuleEvaluation["restriction"] {
  const real = path?.real ?? null;
  if (searches === undefined || real === null || parts.world.kind(real) !== "folder") return null;
  const found = rules.find((placed) =>
    placed.rule.decision !== "approve" &&
    (placed.rule.path ?? []).some((pattern) =>
      !pattern.excludes && reachesBelow(pattern, real, parts.baseOf(placed), parts.world)
    )
  );
  if (found === undefined) return null;
  const unsure = found.rule.decision === "deny" ? `${real} may contain paths that the rule denies` : null;
  return { decision: "require_approval", rule: found, part: real, unsure };
}

type Approval = Pick<RuleEvaluation, "approved" | "approval" | "commands" | "why">;

function approvalOf(
  rules: readonly PlacedRule[],
  call: Call,
  shell: ShellLibrary | null,
  parts: EvaluationContext,
): Approval {
  const approving = rules.filter(({ rule }) => rule.decision === "approve");
  const byRule = (approval: PlacedRule): Approval => ({ approved: true, approval, commands: [], why: null });
  const none = (why: string, commands: readonly EvaluatedCommand[] = []): Approval => ({
    approved: false,
    approval: null,
    commands,
    why,
  });
  const whole = approving.find(({ rule }) => rule.command === undefined && rule.path === undefined);
  if (whole !== undefined) return byRule(whole);
  const aboutPaths = approving.filter(({ rule }) => rule.path !== undefined);
  const aboutCommands = approving.filter(({ rule }) => rule.command !== undefined);
  if (call.command !== null && shell !== null && aboutCommands.length > 0) {
    return commandApproval(aboutCommands, call, shell, parts, none);
  }
  if (call.path !== null && aboutPaths.length > 0) {
    return pathApproval(aboutPaths, rules, call, parts, byRule, none);
  }
  return none("no rule approves it");
}

function commandApproval(
  approving: readonly PlacedRule[],
  { name, command }: Call,
  shell: ShellLibrary,
  parts: EvaluationContext,
  none: (why: string, commands?: readonly EvaluatedCommand[]) => Approval,
): Approval {
  if (parts.otherShell !== null) {
    return none(`rules can read only bash, and tools.bash.shell is ${parts.otherShell}`);
  }
  const reading = readStrictly(command ?? "", shell.parse);
  const commands = evaluateCommands(reading, { ...parts, cwd: parts.folderOf(name), rules: approving });
  if (reading.opaque !== null) return none(`the command contains ${reading.opaque}`, commands);
  if (commands.length === 0) return none("it contains no command");
  const stopped = commands.find(({ rule }) => rule === null);
  if (stopped !== undefined) return none(`"${stopped.text}": ${stopped.why}`, commands);
  return { approved: true, approval: commands[0]!.rule, commands, why: null };
}

function pathApproval(
  approving: readonly PlacedRule[],
  rules: readonly PlacedRule[],
  call: Call,
  parts: EvaluationContext,
  byRule: (rule: PlacedRule) => Approval,
  none: (why: string) => Approval,
): Approval {
  const { path, tool } = call;
  const { world } = parts;
  if (path === null || path.real === null) return none("the path cannot be resolved");
  const checked: CheckedPath = { asked: path.asked, real: path.real };
  const never = neverApproved(checked, world, tool.files === "write");
  if (never !== null) return none(`${checked.asked} ${never}`);
  const isFolder = world.kind(checked.real) === "folder";
  let hidden: string | null = null;
  for (const placed of approving) {
    const base = parts.baseOf(placed);
    if (!fitsPatterns(placed.rule.path ?? [], checked, { base, reading: "approve", world })) continue;
    hidden = isFolder ? takenOutBelow(checked.real, placed, rules, { call, parts }) : null;
    if (hidden === null) return byRule(placed);
  }
  return none(hidden ?? `no rule approves ${checked.real}`);
}

/**
 * Returns what a search of a folder could show although a pattern excludes it; null if there is nothing. Rules about
 * reading with other tools do not apply to a search that shows only names.
 */
function takenOutBelow(
  folder: string,
  placed: PlacedRule,
  rules: readonly PlacedRule[],
  { call: { name, searches }, parts }: { readonly call: Call; readonly parts: EvaluationContext },
): string | null {
  const onlyNames = searches === "names";
  const concerns = (tool: string) =>
    tool === "*" || (onlyNames ? tool === name : builtinFact(tool)?.reads === true);
  const restricting = [...rules, ...parts.rules].filter(({ rule }) =>
    rule.decision !== "approve" && rule.tools.some(concerns)
  );
  const taken = [
    ...(placed.rule.path ?? []).filter(({ excludes }) => excludes).map((pattern) => ({
      pattern,
      of: placed,
    })),
    ...restricting.flatMap((of) => (of.rule.path ?? []).map((pattern) => ({ pattern, of })))
      .filter(({ pattern }) => !pattern.excludes),
  ];
  const found = taken.find(({ pattern, of }) => reachesBelow(pattern, folder, parts.baseOf(of), parts.world));
  return found === undefined ? null : `${folder} may contain paths that "${found.pattern.text}" excludes`;
}
