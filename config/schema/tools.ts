// Settings schema of tools: which are offered, which run without asking, and how they run.

import { isObject } from "../../base/is_object.ts";
import { isShortRule, readRule, readShortRule } from "../rules/read_rule.ts";
import { isModulePath } from "./module_path.ts";
import {
  BOOLEAN,
  type Group,
  group,
  hostKey,
  key,
  natural,
  policyKey,
  type SettingKey,
  STRING,
  STRINGS,
  type Type,
  word,
} from "./define.ts";
import { presets } from "./presets/presets.ts";
import { asEnabled, switchHint } from "../data/values.ts";

/** An item of `auto_approve`: a tool name, a `$preset`, a rule in its short form, or a module path. */
const approvalItem: Type = {
  is: "custom",
  ts: "string",
  expected: "a tool name, a $preset, a rule such as bash(git status **), or a path to a module",
  accepts(value) {
    if (typeof value !== "string" || value === "") return false;
    if (value.startsWith("$") || isModulePath(value)) return true;
    return isShortRule(value) ? readShortRule(value, "approve").ok : !/[.*?]/.test(value);
  },
  hint(value) {
    if (typeof value !== "string") return undefined;
    const rule = isShortRule(value) ? readShortRule(value, "approve") : null;
    if (rule !== null && !rule.ok) return rule.problem.map(({ message }) => message).join("; ");
    if (/[*?]/.test(value)) return "a name stands for one tool; write each, as flemma tools list has them";
    return value.includes(".")
      ? "a dotted word is a Lua module of the editor plugin; name a TypeScript file, for example ./approve.ts"
      : undefined;
  },
  json: { type: "string" },
};

const texts = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] };

const ruleItem: Type = {
  is: "custom",
  ts: "unknown",
  expected: "a rule such as { approve: bash, command: [git status] }",
  accepts: (value) => readRule(value).ok,
  hint(value) {
    const rule = readRule(value);
    if (rule.ok) return undefined;
    return rule.problem.map(({ member, message, suggestion }) =>
      `${member === null ? "" : `${member} `}${message}${
        suggestion === undefined ? "" : `; did you mean ${suggestion}?`
      }`
    ).join("; ");
  },
  json: {
    type: "object",
    properties: {
      approve: texts,
      ask: texts,
      deny: texts,
      command: texts,
      path: texts,
      within: texts,
      input: { type: "object" },
      env: texts,
      allow_runner: { type: "boolean" },
      sandboxed: { type: "boolean" },
      reason: { type: "string" },
    },
    oneOf: [{ required: ["approve"] }, { required: ["ask"] }, { required: ["deny"] }],
    additionalProperties: false,
  },
};

const moduleFile: Type = {
  is: "custom",
  ts: "string",
  expected: "a path to a TypeScript file",
  accepts: (value) => typeof value === "string" && isModulePath(value),
  json: { type: "string" },
};

const resolverItem: Type = {
  is: "custom",
  ts: "ResolverFile",
  expected: "a table { path, priority, name } whose path is a TypeScript file",
  accepts(value) {
    if (!isObject(value)) return false;
    const { path, priority, name, ...rest } = value;
    return typeof path === "string" && isModulePath(path) && Object.keys(rest).length === 0 &&
      (priority === undefined || Number.isFinite(priority)) &&
      (name === undefined || (typeof name === "string" && name !== "" && !name.includes(".")));
  },
  members: {
    path: moduleFile,
    priority: { is: "number" },
    name: STRING,
  },
  json: {
    type: "object",
    properties: {
      path: { type: "string" },
      priority: { type: "number" },
      name: { type: "string", pattern: "^[^.]+$" },
    },
    required: ["path"],
    additionalProperties: false,
  },
};

/** Wraps a lone `$name`, module path or rule as a list of one. */
function approvalList(value: unknown): unknown {
  return typeof value === "string" &&
      (value.startsWith("$") || isModulePath(value) || value.includes(".") || isShortRule(value))
    ? [value]
    : value;
}

const cwd = () =>
  key(STRING, "Where the tool works; expanded like a sandbox path, empty means the process's directory.", {
    default: "urn:flemma:buffer:path",
    optional: true,
  });
const EXCLUDED = [".git", "node_modules", "__pycache__", ".venv", "target", "dist", "build", "vendor"];
const exclude = () => key(STRINGS, "Names of folders and files that are skipped.", { default: EXCLUDED });

export const toolsGroup = group("Tools: which are offered, which run unasked, how they run.", {
  require_approval: key(BOOLEAN, "`false` approves every call that nothing else decides.", {
    default: true,
    who: ["G", "P", "M", "C"],
    narrows: "true",
    documentNarrows: true,
  }),
  auto_approve: key(
    { is: "list", item: approvalItem },
    "Calls that run unasked: tool names, `$presets`, rules such as `bash(git status **)`, paths to modules; in Lua also a " +
      "function.",
    {
      default: ["$default"],
      optional: true,
      callable: true,
      ts: "AutoApprove",
      narrows: "remove",
      long: approvalList,
    },
  ),
  auto_approve_sandboxed: key(
    BOOLEAN,
    "Approve tools that say so when a working sandbox stands around them.",
    {
      default: true,
      who: ["G", "P", "M", "C"],
      narrows: "false",
      documentNarrows: true,
    },
  ),
  presets: presets("Presets for approval; merged with the top-level `presets`, these win."),
  approval_profile: policyKey(word("founding", "v0.11"), "Whose defaults and order of approval hold.", {
    default: "founding",
  }),
  approval_strict: policyKey(BOOLEAN, "A module of `auto_approve` that does not load asks a person.", {
    default: false,
    narrows: "true",
  }),
  auto_approve_risk: policyKey(
    word("none", "low", "medium", "high"),
    "Risk up to which tool files run unasked.",
    { default: "low" },
  ),
  rules: key(
    { is: "list", item: ruleItem },
    "Rules over inputs of tools: commands and paths that are approved, asked about or denied. Those of all layers count; " +
      "a document's may ask and deny.",
    { default: [], ts: "readonly PlacedRule[]", narrows: "restrict", documentNarrows: true },
  ),
  dirs: hostKey(STRINGS, "Further folders of tool files.", { default: [], who: ["G", "C"] }),
  override: hostKey(STRINGS, "Built-in tools that a tool file may replace.", { default: [] }),
  file_timeout: hostKey(natural(1), "Seconds a tool file may run.", { default: 120 }),
  env: group("Variables of child processes.", {
    block: hostKey(STRINGS, "Variables withheld besides the credentials: names and `*` patterns.", {
      default: [],
    }),
    pass: hostKey(STRINGS, "Variables passed although they would be withheld.", { default: [] }),
  }, { ts: "ToolVariables", adds: "CredentialVariables" }),
  truncate: group("How long results may be.", {
    max_lines: key(natural(1), "Lines of a result.", { default: 2000 }),
    max_bytes: key(natural(1), "Bytes of a result.", { default: 51200 }),
    max_file_size: hostKey(natural(), "Bytes the file with the whole output may grow to.", {
      default: 67108864,
    }),
    output_path_format: hostKey(STRING, "Where the whole output goes.", {
      default: "${TMPDIR:-/tmp}/flemma_{{ source }}_{{ path }}_{{ id }}.txt",
    }),
  }),
  resolvers: hostKey(
    { is: "list", item: resolverItem },
    "Files with approval resolvers of your own: `{ path, priority, name }`; priority 50 when it is left out.",
    { default: [], loads: true },
  ),
  modules: hostKey(
    { is: "list", item: moduleFile },
    "Files of code that register tools: they export `definitions` or `resolve`.",
    { default: [], loads: true },
  ),
  allowed_categories: key(STRINGS, "Categories of tool files that are offered.", { optional: true }),
  autopilot: group("Going on without being asked.", {
    enabled: key(BOOLEAN, "Go on by itself after results.", { default: true, narrows: "false" }),
    max_turns: key(natural(), "Replies with tool calls before it stops.", { default: 100, narrows: "lower" }),
    max_repeats: key(
      natural(),
      "How often the same call may bring the same result in a row before it stops; 0 means no limit.",
      { default: 3, narrows: "lower", documentNarrows: true, zeroIsUnlimited: true },
    ),
  }, { short: asEnabled, hint: switchHint }),
  max_concurrent: key(natural(), "Calls of one document that may run at once; 0 means no limit.", {
    default: 2,
    narrows: "lower",
    zeroIsUnlimited: true,
  }),
  default_timeout: key(natural(1), "Seconds a tool may run.", { default: 30 }),
  status_style: key(word("fence", "header", "auto"), "How placeholders spell their status.", {
    default: "fence",
  }),
  cursor_after_result: key(word("result", "stay", "next"), "Which line is reported after a result.", {
    default: "result",
  }),
  bash: tool("The bash tool.", {
    shell: hostKey(STRING, "The shell; `bash` when unset.", { optional: true }),
    cwd: cwd(),
    env: hostKey({ is: "map", of: STRING }, "Variables added to the environment.", { optional: true }),
    max_timeout: key(natural(1), "Most seconds a call may ask for.", { default: 600 }),
  }),
  read: tool("The read tool; it has no settings.", {}),
  write: tool("The write tool; it has no settings.", {}),
  edit: tool("The edit tool.", {
    replace_all: key(BOOLEAN, "Replace every place instead of refusing when there are several.", {
      default: false,
    }),
  }),
  grep: tool("The grep tool.", { cwd: cwd(), exclude: exclude() }),
  find: tool("The find tool.", { cwd: cwd(), exclude: exclude() }),
  ls: tool("The ls tool.", { cwd: cwd() }),
  calculator: tool("The calculator tool.", {
    enabled: key(BOOLEAN, "Offer it without being asked to.", { default: true }),
  }),
  mcporter: group("An old setting: servers in the settings file of the program mcporter.", {
    enabled: hostKey(
      BOOLEAN,
      "Read the servers in mcporter's own settings file as mcp.servers, with a warning.",
      {
        default: false,
      },
    ),
  }, { holds: "nothing" }),
}, {
  ts: "ToolSettings",
  adds: "ResolvedTools",
  list: key(STRINGS, "The tools offered to the model; without a list all that are not disabled by default.", {
    narrows: "remove",
  }),
  aliases: { approve: ["auto_approve"] },
  // Settings of tools registered elsewhere; `draft.ts` asks the catalog whether the tool exists.
  others: tool("Settings of a registered tool.", {}, toolMember()),
});

/** The table of one tool, which receives what layers wrote. */
function tool(doc: string, members: Readonly<Record<string, SettingKey>>, others?: SettingKey): Group {
  return group(doc, members, { holds: "nothing", ...(others === undefined ? {} : { others }) });
}

function toolMember(): SettingKey {
  return key({ is: "any" }, "A setting the tool reads.", { optional: true });
}
