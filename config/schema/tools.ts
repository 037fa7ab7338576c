// Settings schema of tools: which are offered, which run without asking, and how they run.

import { isObject } from "../../base/is_object.ts";
import { isShortRule, readRule, readShortRule, RULE_MEMBERS } from "../rules/read_rule.ts";
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
    if (/[*?]/.test(value)) {
      return "a name matches one tool only; write each name that flemma tools list shows";
    }
    return value.includes(".")
      ? "a dotted name is a Lua module of the editor plugin; name a TypeScript file, for example ./approve.ts"
      : undefined;
  },
  json: { type: "string" },
};

/** True for an item of `auto_approve` that only newer versions of flemma.nvim know: `server.tool`, `server.*`. */
export function isNewerName(item: unknown): boolean {
  return typeof item === "string" && /[.*]/.test(item) && !item.startsWith("$") && !isModulePath(item) &&
    !isShortRule(item);
}

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
    properties: RULE_MEMBERS,
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
  key(
    STRING,
    "Working folder of the tool, expanded like a sandbox path. If empty, the folder of the process.",
    {
      default: "urn:flemma:buffer:path",
      optional: true,
    },
  );
const EXCLUDED = [".git", "node_modules", "__pycache__", ".venv", "target", "dist", "build", "vendor"];
const exclude = () => key(STRINGS, "Names of folders and files to skip.", { default: EXCLUDED });

export const toolsGroup = group(
  "Tools: which ones the model gets, which run without asking, and how they run.",
  {
    require_approval: key(BOOLEAN, "Ask about calls that no rule matches; `false` approves them.", {
      default: true,
      who: ["G", "P", "M", "C"],
      narrows: "true",
      documentNarrows: true,
    }),
    auto_approve: key(
      { is: "list", item: approvalItem },
      "Calls that run without asking: tool names, `$presets`, rules such as `bash(git status **)`, paths to modules; in Lua also a " +
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
      "Approve tools made for the sandbox, such as bash, if a sandbox works.",
      {
        default: true,
        who: ["G", "P", "M", "C"],
        narrows: "false",
        documentNarrows: true,
      },
    ),
    presets: presets("Approval presets; they override top-level `presets` of the same name."),
    approval_profile: policyKey(
      word("founding", "v0.11"),
      "Version of the approval defaults and of their order.",
      {
        default: "founding",
      },
    ),
    approval_strict: policyKey(BOOLEAN, "Ask if a module in `auto_approve` fails to load.", {
      default: false,
      narrows: "true",
    }),
    auto_approve_risk: policyKey(
      word("none", "low", "medium", "high"),
      "Highest risk at which tool files run without asking.",
      { default: "low" },
    ),
    rules: key(
      { is: "list", item: ruleItem },
      "Rules that approve, ask about or deny commands and paths. Rules of all layers apply; " +
        "a document's rules may only ask and deny.",
      { default: [], ts: "readonly PlacedRule[]", narrows: "restrict", documentNarrows: true },
    ),
    dirs: hostKey(STRINGS, "Additional folders of tool files.", { default: [], who: ["G", "C"] }),
    override: hostKey(STRINGS, "Built-in tools that a tool file may replace.", { default: [] }),
    file_timeout: hostKey(natural(1), "Time limit for a tool file, in seconds.", { default: 120 }),
    env: group("Environment variables of child processes.", {
      block: hostKey(STRINGS, "Variables to withhold in addition to credentials: names and `*` patterns.", {
        default: [],
      }),
      pass: hostKey(STRINGS, "Variables to pass even if they would be withheld.", { default: [] }),
    }, { ts: "ToolVariables", adds: "CredentialVariables" }),
    truncate: group("Size limits for results.", {
      max_lines: key(natural(1), "Maximum lines of a result.", { default: 2000 }),
      max_bytes: key(natural(1), "Maximum bytes of a result.", { default: 51200 }),
      max_file_size: hostKey(natural(), "Maximum bytes of the file with the full output.", {
        default: 67108864,
      }),
      output_path_format: hostKey(STRING, "Path of the file with the full output.", {
        default: "${TMPDIR:-/tmp}/flemma_{{ source }}_{{ path }}_{{ id }}.txt",
      }),
    }),
    resolvers: hostKey(
      { is: "list", item: resolverItem },
      "Files with your own approval resolvers: `{ path, priority, name }`; the default priority is 50.",
      { default: [], loads: true },
    ),
    modules: hostKey(
      { is: "list", item: moduleFile },
      "Code files that register tools by exporting `definitions` or `resolve`.",
      { default: [], loads: true },
    ),
    allowed_categories: key(STRINGS, "Categories of tool files to offer.", { optional: true }),
    autopilot: group("The autopilot, which continues a run without asking.", {
      enabled: key(BOOLEAN, "Continue automatically after results.", { default: true, narrows: "false" }),
      max_turns: key(natural(), "Maximum replies with tool calls before the autopilot stops.", {
        default: 100,
        narrows: "lower",
      }),
      max_repeats: key(
        natural(),
        "How often in a row a call may give the same result before the autopilot stops; 0 means no limit.",
        { default: 3, narrows: "lower", documentNarrows: true, zeroIsUnlimited: true },
      ),
    }, { short: asEnabled, hint: switchHint }),
    jobs: group("Background jobs: commands that keep running while the model goes on.", {
      enabled: key(BOOLEAN, "Let bash run commands in the background.", {
        default: true,
        who: ["G", "P", "M", "C"],
        narrows: "false",
        documentNarrows: true,
      }),
      max: key(natural(1), "Maximum background jobs of one document at the same time.", {
        default: 4,
        narrows: "lower",
        documentNarrows: true,
      }),
      wait: key(
        natural(),
        "Seconds that a run waits in total for its jobs after a complete reply, before it stops them.",
        { default: 0, narrows: "lower", documentNarrows: true },
      ),
    }, { short: asEnabled, hint: switchHint }),
    max_concurrent: key(natural(), "Maximum calls of one document in parallel; 0 means no limit.", {
      default: 2,
      narrows: "lower",
      zeroIsUnlimited: true,
    }),
    default_timeout: key(natural(1), "Time limit for a tool, in seconds.", { default: 30 }),
    status_style: key(
      word("fence", "header", "auto"),
      "Where an empty result block shows its status: on the fence or in the header.",
      {
        default: "fence",
      },
    ),
    cursor_after_result: key(
      word("result", "stay", "next"),
      "The cursor line that flemma reports after a result.",
      {
        default: "result",
      },
    ),
    bash: tool("The bash tool.", {
      shell: hostKey(STRING, "The shell; `bash` if unset.", { optional: true }),
      cwd: cwd(),
      env: hostKey({ is: "map", of: STRING }, "Environment variables to add.", { optional: true }),
      max_timeout: key(natural(1), "Maximum timeout that a call may request, in seconds.", { default: 600 }),
    }),
    read: tool("The read tool; it has no settings.", {}),
    write: tool("The write tool; it has no settings.", {}),
    edit: tool("The edit tool.", {
      replace_all: key(
        BOOLEAN,
        "If the text occurs several times, replace every occurrence instead of refusing.",
        {
          default: false,
        },
      ),
    }),
    grep: tool("The grep tool.", { cwd: cwd(), exclude: exclude() }),
    find: tool("The find tool.", { cwd: cwd(), exclude: exclude() }),
    ls: tool("The ls tool.", { cwd: cwd() }),
    calculator: tool("The calculator tool.", {
      enabled: key(BOOLEAN, "Offer the tool by default.", { default: true }),
    }),
    mcporter: group("Old setting for servers in mcporter's settings file.", {
      enabled: hostKey(
        BOOLEAN,
        "Read the servers in mcporter's own settings file as mcp.servers, with a warning.",
        {
          default: false,
        },
      ),
    }, { holds: "nothing" }),
  },
  {
    ts: "ToolSettings",
    adds: "ResolvedTools",
    list: key(STRINGS, "Tools to offer to the model. Without a list, all that are not disabled by default.", {
      narrows: "remove",
    }),
    aliases: { approve: ["auto_approve"] },
    // Settings of tools that are registered by other code; `draft.ts` asks the catalog whether the tool exists.
    others: tool("Settings of a registered tool.", {}, toolMember()),
  },
);

/** Creates the table of one tool, which receives what layers wrote. */
function tool(doc: string, members: Readonly<Record<string, SettingKey>>, others?: SettingKey): Group {
  return group(doc, members, { holds: "nothing", ...(others === undefined ? {} : { others }) });
}

function toolMember(): SettingKey {
  return key({ is: "any" }, "A setting of this tool.", { optional: true });
}
