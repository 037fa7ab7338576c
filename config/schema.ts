// The whole tree of settings as data: type, default, who may set it, what it means. Validation, `config show`, the
// reference page and the JSON Schema for editors all read it (frontmatter-config 1).

import { isModulePath } from "./module_path.ts";
import {
  BOOLEAN,
  editor,
  type Group,
  group,
  hostKey,
  type Key,
  key,
  natural,
  neutralKey,
  type Node,
  policyKey,
  STRING,
  STRINGS,
  type Type,
  word,
} from "./shape.ts";
import { DEFAULT_PROTECT, DEFAULT_RW_PATHS } from "./settings.ts";

const LEVELS = ["minimal", "low", "medium", "high", "max"];

export const DEFAULT_THINKING = { level: "high", foreign: "preserve" } as const;

const thinkingType: Type = {
  is: "custom",
  expected: `a level (${LEVELS.join(", ")}), a number of tokens, false, or { level, foreign }`,
  words: LEVELS,
  hint: (value) =>
    isObject(value) && typeof value.level === "string" && !LEVELS.includes(value.level)
      ? `"${value.level}" is no level`
      : undefined,
  accepts(value) {
    if (!isObject(value)) return false;
    const { level, foreign, ...rest } = value;
    const fits = level === false || (typeof level === "number" && level >= 0) ||
      (typeof level === "string" && LEVELS.includes(level));
    return fits && (foreign === "preserve" || foreign === "drop") && Object.keys(rest).length === 0;
  },
  json: {
    anyOf: [
      { enum: [...LEVELS, false] },
      { type: "number", minimum: 0 },
      {
        type: "object",
        properties: {
          level: { anyOf: [{ enum: [...LEVELS, false] }, { type: "number", minimum: 0 }] },
          foreign: { enum: ["preserve", "drop"] },
        },
        additionalProperties: false,
      },
    ],
  },
};

const maxTokensType: Type = {
  is: "custom",
  expected: 'a whole number of tokens above 0 or a share like "50%"',
  accepts: (value) =>
    (typeof value === "number" && Number.isInteger(value) && value > 0) ||
    (typeof value === "string" && /^\d+%$/.test(value)),
  json: { anyOf: [{ type: "integer", minimum: 1 }, { type: "string", pattern: "^[0-9]+%$" }] },
};

/** Parameters that every provider understands; a provider's own table may repeat each (2.5). */
function generalParameters(own: boolean): Record<string, Key> {
  const rest = (value: unknown) => (own ? { optional: true } : { default: value });
  return {
    max_tokens: neutralKey(
      maxTokensType,
      "Most tokens of a reply: a number, or a share of what the model can do.",
      {
        ...rest("50%"),
      },
    ),
    temperature: neutralKey(
      { is: "number", min: 0 },
      "Sampling temperature; left out of the request when unset.",
      {
        optional: true,
      },
    ),
    timeout: neutralKey(natural(), "Seconds for the whole reply.", rest(600)),
    connect_timeout: neutralKey(natural(), "Seconds until the connection stands.", rest(10)),
    cache_retention: neutralKey(
      word("short", "long", "none"),
      "How long the provider keeps the prompt cached.",
      {
        ...rest("short"),
      },
    ),
    thinking: neutralKey(
      thinkingType,
      "How much the model thinks, and whether thinking of another provider is sent along.",
      {
        ...rest(DEFAULT_THINKING),
        record: true,
        long: (value) =>
          value === null || value === true || Array.isArray(value)
            ? value
            : isObject(value)
            ? { ...DEFAULT_THINKING, ...value }
            : { ...DEFAULT_THINKING, level: value },
      },
    ),
  };
}

function providerTable(name: string, own: Record<string, Node>): Group {
  return group(`Parameters for ${name} alone; they beat the general ones.`, {
    ...generalParameters(true),
    ...own,
  });
}

const text = (doc: string, value?: string) =>
  neutralKey(STRING, doc, { optional: true, ...(value === undefined ? {} : { default: value }) });

const budget = neutralKey(natural(), "Tokens to think with; beats `thinking`.", { optional: true });

/** Tables of parameters by provider; each name is also an alias at the top. */
export const PROVIDER_TABLES: Readonly<Record<string, Group>> = {
  anthropic: providerTable("Anthropic", {
    thinking_budget: budget,
    effort: neutralKey(word("low", "medium", "high", "xhigh", "max"), "Sent as it is.", { optional: true }),
  }),
  openai: providerTable("OpenAI", {
    reasoning: text("Reasoning effort; beats `thinking`."),
    reasoning_summary: text("Kind of reasoning summary.", "auto"),
    experimental: group("Experiments of this provider.", {
      phase: neutralKey(BOOLEAN, "Label replayed messages with their phase.", { default: true }),
    }),
  }),
  vertex: providerTable("Vertex AI", {
    project_id: text("Google Cloud project; required by this provider."),
    location: text("Region.", "global"),
    thinking_budget: budget,
  }),
  moonshot: providerTable("Moonshot AI", { prompt_cache_key: text("Key of the prompt cache.") }),
};

/** A preset is one value: a line `PROVIDER MODEL key=value …`, or a table. Presets.ts reads both. */
const presetType: Type = {
  is: "custom",
  expected: 'a line "PROVIDER MODEL key=value …" or a table of approve, deny, provider, model and parameters',
  accepts: (value) => typeof value === "string" || isObject(value) || Array.isArray(value),
  json: {
    anyOf: [
      { type: "string" },
      {
        type: "object",
        properties: {
          approve: { type: "array", items: { type: "string" } },
          auto_approve: { type: "array", items: { type: "string" } },
          deny: { type: "array", items: { type: "string" } },
          provider: { type: "string" },
          model: { type: "string" },
          parameters: { type: "object" },
        },
      },
    ],
  },
};

const presets = (doc: string) =>
  group(doc, {}, { presets: true, others: key(presetType, doc, { who: ["G", "P", "M", "C"] }) });

const rwPathType: Type = {
  is: "custom",
  expected: "a path, or { path, create }",
  accepts(value) {
    if (typeof value === "string") return value !== "";
    if (!isObject(value)) return false;
    const { path, create, ...rest } = value;
    return typeof path === "string" && path !== "" && (create === undefined || typeof create === "boolean") &&
      Object.keys(rest).length === 0;
  },
  json: {
    anyOf: [
      { type: "string" },
      {
        type: "object",
        properties: { path: { type: "string" }, create: { type: "boolean" } },
        required: ["path"],
        additionalProperties: false,
      },
    ],
  },
};

const networkType: Type = {
  is: "custom",
  expected: "true, false, or { allow } with a list of hosts",
  accepts: (value) =>
    typeof value === "boolean" ||
    (isObject(value) && Object.keys(value).join() === "allow" && Array.isArray(value.allow) &&
      value.allow.every((host) => typeof host === "string" && host !== "")),
  json: {
    anyOf: [{ type: "boolean" }, {
      type: "object",
      properties: { allow: { type: "array", items: { type: "string" } } },
      required: ["allow"],
      additionalProperties: false,
    }],
  },
};

const LIMITS = ["cpu_seconds", "memory", "file_size", "processes", "open_files", "tmp_size"];

const limitsType: Type = {
  is: "custom",
  expected: `a table of whole numbers above 0: ${LIMITS.join(", ")}`,
  accepts: (value) =>
    isObject(value) &&
    Object.entries(value).every(([name, size]) =>
      LIMITS.includes(name) && Number.isSafeInteger(size) && Number(size) > 0
    ),
  json: {
    type: "object",
    properties: Object.fromEntries(LIMITS.map((name) => [name, { type: "integer", minimum: 1 }])),
    additionalProperties: false,
  },
};

/** An item of `auto_approve`: a tool name, a `$preset`, or a module path. */
const approvalItem: Type = {
  is: "custom",
  expected: "a tool name, a $preset or a path to a module",
  accepts: (value) =>
    typeof value === "string" && value !== "" &&
    (value.startsWith("$") || isModulePath(value) || !value.includes(".")),
  hint: (value) =>
    typeof value === "string" && value.includes(".")
      ? "a dotted word is a Lua module of the editor plugin; name a TypeScript file, for example ./approve.ts"
      : undefined,
  json: { type: "string" },
};

/** An item of `tools.resolvers`. */
const resolverItem: Type = {
  is: "custom",
  expected: "a table { path, priority, name } whose path is a TypeScript file",
  accepts(value) {
    if (!isObject(value)) return false;
    const { path, priority, name, ...rest } = value;
    return typeof path === "string" && isModulePath(path) && Object.keys(rest).length === 0 &&
      (priority === undefined || Number.isFinite(priority)) &&
      (name === undefined || (typeof name === "string" && name !== "" && !name.includes(".")));
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

/** A lone `$name` or module path stands for a list of one. */
function approvalList(value: unknown): unknown {
  return typeof value === "string" && (value.startsWith("$") || isModulePath(value) || value.includes("."))
    ? [value]
    : value;
}

const RULES = "approval rules";
const cwd = () =>
  key(STRING, "Where the tool works; expanded like a sandbox path, empty means the process's directory.", {
    default: "urn:flemma:buffer:path",
    optional: true,
  });
const EXCLUDED = [".git", "node_modules", "__pycache__", ".venv", "target", "dist", "build", "vendor"];
const exclude = () => key(STRINGS, "Names of folders and files that are skipped.", { default: EXCLUDED });

const tools = group("Tools: which are offered, which run unasked, how they run.", {
  require_approval: key(BOOLEAN, "`false` approves every call that nothing else decides.", {
    default: true,
    who: ["G", "P", "M", "C"],
    narrows: "true",
    documentNarrows: true,
  }),
  auto_approve: key(
    { is: "list", item: approvalItem },
    "Calls that run unasked: tool names, `$presets`, paths to modules; in Lua also a function.",
    {
      default: ["$default"],
      optional: true,
      callable: true,
      narrows: "remove",
      long: approvalList,
      awaits: "approval rules",
      awaitsWhen: (value) => [value].flat().some((item) => typeof item === "string" && /[()]/.test(item)),
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
    {
      default: "low",
      awaits: "tool files and their risk levels",
    },
  ),
  rules: policyKey({ is: "list", item: { is: "any" } }, "Rules over inputs.", { default: [], awaits: RULES }),
  dirs: hostKey(STRINGS, "Further folders of tool files.", {
    default: [],
    loads: true,
    awaits: "tool files",
  }),
  override: hostKey(STRINGS, "Built-in tools that a tool file may replace.", {
    default: [],
    awaits: "tool files",
  }),
  file_timeout: hostKey(natural(1), "Seconds a tool file may run.", { default: 120 }),
  env: group("Variables of child processes.", {
    block: hostKey(STRINGS, "Variables withheld besides the credentials: names and `*` patterns.", {
      default: [],
    }),
    pass: hostKey(STRINGS, "Variables passed although they would be withheld.", { default: [] }),
  }),
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
  modules: hostKey(STRINGS, "Files that register tools.", {
    default: [],
    loads: true,
    awaits: "tools from modules",
  }),
  allowed_categories: key(STRINGS, "Categories of tool files that are offered.", {
    optional: true,
    awaits: "tool files and their categories",
  }),
  autopilot: group("Going on without being asked.", {
    enabled: key(BOOLEAN, "Go on by itself after results.", { default: true, narrows: "false" }),
    max_turns: key(natural(), "Replies with tool calls before it stops.", { default: 100, narrows: "lower" }),
  }, { short: asEnabled }),
  max_concurrent: key(natural(), "Calls of one document that may run at once; 0 means no limit.", {
    default: 2,
    narrows: "lower",
    zeroIsUnlimited: true,
  }),
  default_timeout: key(natural(1), "Seconds a tool may run.", { default: 30 }),
  status_style: key(word("fence", "header", "auto"), "How placeholders spell their status.", {
    default: "fence",
  }),
  pending_press: key(word("block", "execute"), "What advance does at a pending call.", {
    default: "block",
    awaits: "another way to press",
  }),
  show_spinner: key(BOOLEAN, "For editors; a terminal may honour it.", { default: true }),
  cursor_after_result: key(word("result", "stay", "next"), "Which line is reported after a result.", {
    default: "result",
  }),
  bash: group("The bash tool.", {
    shell: hostKey(STRING, "The shell; `bash` when unset.", { optional: true }),
    cwd: cwd(),
    env: hostKey({ is: "map", of: STRING }, "Variables added to the environment.", { optional: true }),
    max_timeout: key(natural(1), "Most seconds a call may ask for.", { default: 600 }),
  }),
  read: group("The read tool.", {}, { others: toolMember() }),
  write: group("The write tool.", {}, { others: toolMember() }),
  edit: group("The edit tool.", {
    replace_all: key(BOOLEAN, "Replace every place instead of refusing when there are several.", {
      default: false,
    }),
  }, { others: toolMember() }),
  grep: group("The grep tool.", { cwd: cwd(), exclude: exclude() }),
  find: group("The find tool.", { cwd: cwd(), exclude: exclude() }),
  ls: group("The ls tool.", { cwd: cwd() }),
  calculator: group("The calculator tool.", {
    enabled: key(BOOLEAN, "Offer it without being asked to.", { default: true }),
  }),
  mcporter: group("Bridge to external tool servers.", {
    enabled: hostKey(BOOLEAN, "Ask mcporter for tools.", { default: false, awaits: "the mcporter bridge" }),
    path: hostKey(STRING, "The program.", { default: "mcporter" }),
    timeout: hostKey(natural(1), "Seconds of one call.", { default: 60 }),
    startup: group("Asking for tools at start.", {
      concurrency: hostKey(natural(1), "Servers asked at once.", { default: 4 }),
    }),
    include: hostKey(STRINGS, "Tools taken; all when empty.", { default: [] }),
    exclude: hostKey(STRINGS, "Tools left out.", { default: [] }),
  }),
}, {
  list: key(STRINGS, "The tools offered to the model; without a list all that are not disabled by default.", {
    narrows: "remove",
  }),
  aliases: { approve: ["auto_approve"] },
  // Settings of tools that are registered from elsewhere; draft.ts asks the catalog whether there is such a tool.
  others: group("Settings of a registered tool.", {}, { others: toolMember() }),
});

function toolMember(): Key {
  return key({ is: "any" }, "A setting the tool reads.", { optional: true });
}

const sandbox = group("The sandbox around shell commands.", {
  enabled: key(BOOLEAN, "Run tools inside it.", { default: true, narrows: "true" }),
  backend: key(STRING, "`auto`, `required`, or the name of a backend.", {
    default: "auto",
    awaits: "backends from files",
    awaitsWhen: (value) => typeof value === "string" && isModulePath(value),
  }),
  policy: group("What is allowed inside.", {
    rw_paths: key({ is: "list", item: rwPathType }, "Writable paths; everything else is read-only.", {
      default: DEFAULT_RW_PATHS,
      narrows: "remove",
    }),
    network: key(
      networkType,
      "Whether the network can be reached: all of it, none, or { allow } with a list of hosts.",
      {
        default: true,
        narrows: "false",
      },
    ),
    allow_privileged: key(BOOLEAN, "Whether privileges are kept.", { default: false, narrows: "false" }),
    sockets: policyKey(STRINGS, "Host sockets that stay reachable: paths, or names of groups.", {
      default: [],
    }),
    block_unix_sockets: policyKey(BOOLEAN, "No local sockets at all.", {
      default: false,
      who: ["G", "P", "M", "C"],
      narrows: "true",
      documentNarrows: true,
    }),
    deny_read: policyKey(STRINGS, "Paths that cannot be read; `$secrets` stands for a shipped list.", {
      default: [],
      who: ["G", "P", "M", "C"],
      narrows: "append",
      documentNarrows: true,
    }),
    protect: policyKey(
      STRINGS,
      "Paths that stay read-only inside writable ones; a `$word` stands for a shipped list.",
      {
        default: DEFAULT_PROTECT,
        who: ["G", "P", "M", "C"],
        narrows: "append",
        documentNarrows: true,
      },
    ),
    limits: policyKey(limitsType, "What one command may use.", {
      optional: true,
      who: ["G", "P", "M", "C"],
      narrows: "lower",
      documentNarrows: true,
    }),
  }),
  backends: group("Settings of each backend.", {
    bwrap: group("Bubblewrap.", {
      path: hostKey(STRING, "The program.", { default: "bwrap" }),
      extra_args: hostKey(STRINGS, "Further arguments; they can undo the policy.", { default: [] }),
    }),
    container: group("An outer container as the only barrier.", {
      trusted: hostKey(BOOLEAN, "Take the container around this program for the sandbox.", {
        default: false,
      }),
    }),
  }, {
    others: group("Settings of another backend.", {}, {
      others: hostKey({ is: "any" }, "A setting the backend reads.", { optional: true }),
    }),
  }),
}, { short: asEnabled });

function asEnabled(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "boolean" ? { enabled: value } : undefined;
}

const unneeded = "Belongs to the editor plugin; without effect here.";

/** The whole tree. */
export const SCHEMA: Group = group("All settings.", {
  provider: neutralKey(STRING, "Who is asked: anthropic, openai, vertex, moonshot.", {
    default: "anthropic",
    awaits: "providers from files",
    awaitsWhen: (value) => typeof value === "string" && isModulePath(value),
  }),
  model: neutralKey(STRING, "The model, or a `$preset`; the provider's default when unset.", {
    optional: true,
  }),
  parameters: group("Parameters of requests.", { ...generalParameters(false), ...PROVIDER_TABLES }),
  providers: group("Where providers are.", {}, {
    others: group("One provider.", {
      base_url: hostKey(STRING, "Address of its API.", { optional: true }),
    }),
  }),
  tools,
  sandbox,
  presets: presets("Named sets of provider, model, parameters and approvals."),
  templating: group("Templates.", {
    modules: hostKey(STRINGS, "Files that add names to templates.", {
      default: [],
      loads: true,
      awaits: "template modules",
    }),
  }),
  secrets: group("Where credentials come from.", {
    gcloud: group("The gcloud program.", { path: hostKey(STRING, "The program.", { default: "gcloud" }) }),
  }),
  logging: group("A log of what happened.", {
    enabled: hostKey(BOOLEAN, "Write it.", { default: false }),
    path: hostKey(STRING, "The file.", { optional: true }),
    level: hostKey(word("TRACE", "DEBUG", "INFO", "WARN", "ERROR"), "How much.", { default: "DEBUG" }),
  }),
  diagnostics: group("Finding faults.", {
    enabled: key(BOOLEAN, "Keep requests for comparison.", { default: false, who: ["G", "R", "C"] }),
  }),
  ui: group("What is shown.", {
    pricing: group("Prices.", {
      enabled: key(BOOLEAN, "Show them.", { default: true, who: ["G"] }),
      high_cost_threshold: key(
        { is: "number", min: 0 },
        "Dollars per million tokens that call for a warning.",
        {
          default: 30,
          who: ["G"],
        },
      ),
    }),
    usage: editor(unneeded),
    progress: editor(unneeded),
    statusline: editor(unneeded),
  }),
  trust: group("Whom to believe.", {
    documents: hostKey(
      word("always", "unsandboxed", "ask"),
      "What policy may approve in a stranger's document.",
      {
        default: "unsandboxed",
      },
    ),
  }),
  frontmatter: group("Limits on Lua.", {
    max_steps: hostKey(natural(1), "Instructions.", { default: 10000000 }),
    max_seconds: hostKey({ is: "number", min: 0 }, "Seconds.", { default: 2 }),
    max_memory_mb: hostKey(natural(1), "Mebibytes.", { default: 64 }),
  }),
  experimental: group("Nothing is experimental at the moment.", {}),
  editing: editor(unneeded),
  highlights: editor(unneeded),
  line_highlights: editor(unneeded),
  ruler: editor(unneeded),
  turns: editor(unneeded),
  keymaps: editor(unneeded),
  integrations: editor(unneeded),
  lsp: editor(unneeded),
}, {
  aliases: {
    thinking: ["parameters", "thinking"],
    max_tokens: ["parameters", "max_tokens"],
    temperature: ["parameters", "temperature"],
    timeout: ["parameters", "timeout"],
    cache_retention: ["parameters", "cache_retention"],
    ...Object.fromEntries(Object.keys(PROVIDER_TABLES).map((name) => [name, ["parameters", name]])),
  },
});

/** Names that moved: where they are now, as the end of a sentence. */
export const MOVED: Readonly<Record<string, string>> = {
  notifications: 'is now "ui.progress" of the editor plugin, and not needed here',
  progress: 'is now "ui.progress" of the editor plugin, and not needed here',
  "experimental.lsp": 'is now "lsp.enabled"',
  "experimental.tools": "is not needed any more: tools are always on",
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
