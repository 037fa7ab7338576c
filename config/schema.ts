// The shape of a settings file as data: which keys exist, what they may hold, and their short forms.

/** What one key may hold. */
export type Shape =
  | { readonly kind: "boolean" | "number" | "string" | "strings"; readonly nullable?: boolean }
  | { readonly kind: "integer"; readonly min?: number; readonly nullable?: boolean }
  | { readonly kind: "word"; readonly words: readonly string[] }
  /** Decided by `accepts`; `expected` completes the sentence "expected …". */
  | {
    readonly kind: "custom";
    readonly expected: string;
    accepts(value: unknown): boolean;
    /** Words to suggest from when a string is not accepted. */
    readonly words?: readonly string[];
  }
  | {
    readonly kind: "object";
    readonly members: Readonly<Record<string, Shape>>;
    /** What members with other names may hold; absent means they are unknown keys. */
    readonly others?: Shape;
    /** Turns a bare value into the object it stands for. */
    readonly short?: (value: unknown) => Readonly<Record<string, unknown>> | undefined;
  }
  /** Accepted and passed on unchecked. */
  | { readonly kind: "free" }
  /** Belongs to an editor plugin; accepted and dropped, so that one file can serve both. */
  | { readonly kind: "editor" };

const boolean: Shape = { kind: "boolean" };
const string: Shape = { kind: "string" };
const strings: Shape = { kind: "strings" };
const editor: Shape = { kind: "editor" };
const free: Shape = { kind: "free" };

const LEVELS = ["minimal", "low", "medium", "high", "max"];

const thinkingLevel: Shape = {
  kind: "custom",
  expected: `one of ${LEVELS.join(", ")}, a number of tokens, or false`,
  words: LEVELS,
  accepts: (value) =>
    value === false || (typeof value === "number" && value >= 0) ||
    (typeof value === "string" && LEVELS.includes(value)),
};

const thinking: Shape = {
  kind: "object",
  members: { level: thinkingLevel, foreign: { kind: "word", words: ["preserve", "drop"] } },
  short: (value) => typeof value === "object" || value === true ? undefined : { level: value },
};

const maxTokens: Shape = {
  kind: "custom",
  expected: 'a whole number of tokens above 0 or a share like "50%"',
  accepts: (value) =>
    (typeof value === "number" && Number.isInteger(value) && value > 0) ||
    (typeof value === "string" && /^\d+%$/.test(value)),
};

const general: Readonly<Record<string, Shape>> = {
  max_tokens: maxTokens,
  temperature: { kind: "number", nullable: true },
  timeout: { kind: "integer", min: 1 },
  connect_timeout: { kind: "integer", min: 1 },
  cache_retention: { kind: "word", words: ["short", "long", "none"] },
  thinking,
};

const anthropic: Shape = {
  kind: "object",
  members: {
    ...general,
    thinking_budget: { kind: "integer", nullable: true },
    effort: { kind: "word", words: ["low", "medium", "high", "xhigh", "max"] },
  },
};

const presets: Shape = {
  kind: "object",
  members: {},
  others: { kind: "object", members: { approve: strings, deny: strings, auto_approve: strings } },
};

const rwPaths: Shape = {
  kind: "custom",
  expected: "a list of paths; an item may be { path, create }",
  accepts: (value) =>
    Array.isArray(value) && value.every((item) =>
      typeof item === "string" ||
      (typeof item === "object" && item !== null && typeof (item as { path?: unknown }).path === "string" &&
        Object.entries(item).every(([name, member]) =>
          name === "path" || (name === "create" && typeof member === "boolean")
        ))
    ),
};

const autoApprove: Shape = {
  kind: "custom",
  expected: "a list of tool names and $presets, one $preset, or null",
  // A rule or a module path taken for a tool name would silently approve nothing.
  accepts: (value) =>
    value === null || (typeof value === "string" && value.startsWith("$")) ||
    (Array.isArray(value) && value.every((item) => typeof item === "string" && /^[^()/\s]+$/.test(item))),
};

const workingFolder: Shape = { kind: "object", members: { cwd: { kind: "string", nullable: true } } };

/** The whole tree. Top-level aliases are listed in `ALIASES`. */
export const SETTINGS_SHAPE: Extract<Shape, { kind: "object" }> = {
  kind: "object",
  members: {
    provider: string,
    model: { kind: "string", nullable: true },
    parameters: { kind: "object", members: { ...general, anthropic } },
    providers: {
      kind: "object",
      members: {},
      others: { kind: "object", members: { base_url: { kind: "string", nullable: true } } },
    },
    tools: {
      kind: "object",
      members: {
        require_approval: boolean,
        auto_approve: autoApprove,
        auto_approve_sandboxed: boolean,
        presets,
        approval_profile: { kind: "word", words: ["founding", "v0.11"] },
        approval_strict: boolean,
        autopilot: {
          kind: "object",
          members: { enabled: boolean, max_turns: { kind: "integer", min: 1 } },
          short: (value) => typeof value === "boolean" ? { enabled: value } : undefined,
        },
        max_concurrent: { kind: "integer", min: 0 },
        default_timeout: { kind: "integer", min: 1 },
        status_style: { kind: "word", words: ["fence", "header", "auto"] },
        cursor_after_result: { kind: "word", words: ["result", "stay", "next"] },
        truncate: {
          kind: "object",
          members: {
            max_lines: { kind: "integer", min: 1 },
            max_bytes: { kind: "integer", min: 1 },
            max_file_size: { kind: "integer", min: 0 },
            output_path_format: string,
          },
        },
        env: { kind: "object", members: { block: strings, pass: strings } },
        bash: {
          kind: "object",
          members: {
            shell: { kind: "string", nullable: true },
            cwd: { kind: "string", nullable: true },
            env: { kind: "object", members: {}, others: string },
            max_timeout: { kind: "integer", min: 1 },
          },
        },
        edit: { kind: "object", members: { ...workingFolder.members, replace_all: boolean } },
        read: workingFolder,
        write: workingFolder,
        show_spinner: editor,
      },
    },
    sandbox: {
      kind: "object",
      short: (value) => typeof value === "boolean" ? { enabled: value } : undefined,
      members: {
        enabled: boolean,
        backend: string,
        policy: {
          kind: "object",
          members: { rw_paths: rwPaths, network: boolean, allow_privileged: boolean },
        },
        backends: {
          kind: "object",
          members: { bwrap: { kind: "object", members: { path: string, extra_args: strings } } },
          others: { kind: "object", members: {}, others: free },
        },
      },
    },
    presets,
    editing: editor,
    highlights: editor,
    line_highlights: editor,
    ruler: editor,
    turns: editor,
    keymaps: editor,
    integrations: editor,
  },
};

/** Short names at the top of a file for keys deeper down. A real key of the same name would beat them. */
export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  thinking: ["parameters", "thinking"],
  max_tokens: ["parameters", "max_tokens"],
  temperature: ["parameters", "temperature"],
  timeout: ["parameters", "timeout"],
  cache_retention: ["parameters", "cache_retention"],
  anthropic: ["parameters", "anthropic"],
};

/** Members of `tools` that are settings of one tool; the tool reads a copy through its context. */
export const TOOL_TABLES: readonly string[] = ["bash", "read", "write", "edit"];
