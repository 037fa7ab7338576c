// The tool with which a model loads a skill: its description of the skills, and its result.

import { byBytes } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import { operands } from "../../base/shell_word.ts";
import { SKILL_TOOL } from "../approval/presets.ts";
import type { ExecutionContext, ExecutionResult, ToolDefinition } from "../definition.ts";
import { filesBelow } from "./files.ts";
import { type InspectedSkill, isAgreedTo, skillAt } from "./find.ts";
import { SKILL_FILE, type SkillText } from "./skill.ts";

/** Maximum number of a skill's files named in a result. */
const MOST_NAMED = 200;

/** A skill that the model sees. */
export interface OfferedSkill extends Pick<InspectedSkill, "folder" | "owner"> {
  readonly skill: SkillText;
}

/** The offered skills, by name. */
export function offeredSkills(checked: readonly InspectedSkill[]): OfferedSkill[] {
  return checked.flatMap(({ state, folder, owner, reading: { skill } }) =>
    state === "offered" && skill !== null ? [{ folder, owner, skill }] : []
  ).sort((a, b) => byBytes(a.skill.name, b.skill.name));
}

/** Defines the tool; null without any skill, since there is nothing to load. */
export function skillTool(
  offered: readonly OfferedSkill[],
  environment: Environment,
): ToolDefinition | null {
  if (offered.length === 0) return null;
  const names = offered.map(({ skill }) => skill.name);
  return {
    name: SKILL_TOOL,
    description:
      "Loads a skill: instructions and files for one kind of task. Before you begin a task that a skill " +
      "covers, load the skill and follow its instructions. Available skills:\n\n" +
      offered.map(({ skill }) => `${skill.name}: ${skill.description}`).join("\n"),
    input_schema: {
      type: "object",
      properties: { name: { type: "string", enum: names, description: "Skill to load." } },
      required: ["name"],
      additionalProperties: false,
    },
    strict: true,
    // The tool does not set `effects`, because skill instructions steer later calls. In an untrusted document, its
    // calls therefore wait for the person.
    runs: "inside",
    files: "read",
    // The input is checked without a schema compiler, since there is only one member.
    validate: (input) => problemsOf(input, names),
    format_preview: ({ name }) => String(name),
    execute: ({ name }, context) => {
      const found = offered.find(({ skill }) => skill.name === name);
      return found === undefined
        ? failed(`There is no skill named ${String(name)}.`)
        : load(found, environment, context);
    },
  };
}

function problemsOf(input: unknown, names: readonly string[]): readonly string[] {
  const { name, ...others } = input as Record<string, unknown>;
  return [
    ...(name === undefined
      ? ["/name: is missing"]
      : typeof name === "string" && names.includes(name)
      ? []
      : [`/name: must be one of ${names.map((each) => JSON.stringify(each)).join(", ")}`]),
    ...Object.keys(others).slice(0, 4).map((key) => `/${key}: is not a parameter of this tool`),
  ];
}

/** Loads a skill by reading it again. A project skill is loaded only if a person trusted its current version. */
async function load(
  { skill: { name }, folder, owner }: OfferedSkill,
  environment: Environment,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  const { sandbox, truncate } = context;
  const now = await skillAt(folder);
  if (!sandbox.isPathReadable(now.file)) {
    return failed(`Sandbox: the settings hide the folder of the skill ${name} from tools.`);
  }
  const { skill, findings } = now.reading;
  if (skill === null || skill.name !== name) {
    const [first] = findings;
    const why = first === undefined ? `its name is now ${skill?.name}` : first.message;
    return failed(`The skill ${name} changed and can no longer be loaded: ${why}.`);
  }
  if (owner === "project") {
    const agreed = await isAgreedTo(environment, now);
    if (!agreed.ok) return failed(agreed.problem.message);
    if (!agreed.value) {
      return failed(
        `The skill ${name} was not loaded: its files changed after the user trusted them. ` +
          `The user can review them and run: flemma trust ${operands(folder)}`,
      );
    }
  }
  const { content, truncated, output_lines, total_lines } = truncate.truncateHead(skill.body.trim());
  const more = truncated
    ? [`[Showing lines 1-${output_lines} of ${total_lines} of the instructions. Complete file: ${now.file}]`]
    : [];
  return { success: true, output: [content, ...more, await filesOf(name, folder)].join("\n\n") };
}

/** Location of the skill and its files, in brackets like every notice. */
async function filesOf(name: string, folder: string): Promise<string> {
  const { paths } = await filesBelow(folder);
  const others = paths.filter((path) => path !== SKILL_FILE);
  const named = others.slice(0, MOST_NAMED);
  const rest = others.length - named.length;
  if (named.length === 0) return `[The skill ${name} is in ${folder}, which has no other files]`;
  return [
    `[The skill ${name} is in ${folder}. Paths above are relative to it. Other files:`,
    ...named.map((path) => `${folder}/${path}`),
    ...(rest === 0 ? [] : [`… and ${rest} more`]),
  ].join("\n") + "]";
}

function failed(error: string): ExecutionResult {
  return { success: false, error };
}
