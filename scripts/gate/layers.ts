// The structure of the code as tables. They say which room (top folder) may import which, which part of a room which
// other part, and which folders are closed.

/** For each room, the rooms below it. Other imports are forbidden. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  parser: ["base"],
  lua: ["base"],
  config: ["lua", "parser", "base"],
  sandbox: ["config", "base"],
  tools: ["sandbox", "config", "base"],
  prompt: ["config", "lua", "parser", "base"],
  providers: ["prompt", "config", "base"],
  cycle: ["providers", "prompt", "tools", "config", "parser", "base"],
  agent: ["cycle", "providers", "prompt", "tools", "sandbox", "config", "parser", "base"],
  editors: ["agent", "cycle", "tools", "sandbox", "config", "parser", "base"],
  render: ["agent", "parser", "base"],
  commands: [
    "render",
    "editors",
    "agent",
    "cycle",
    "providers",
    "sandbox",
    "config",
    "parser",
    "base",
  ],
  "cli.ts": ["commands"],
  "advanced.ts": ["agent", "cycle", "providers", "prompt", "tools", "sandbox", "config", "parser", "base"],
  "mod.ts": ["advanced.ts"],
};

/**
 * The floors of each room, from the top: its files and folders by name. A floor may use lower floors, and a folder its
 * own files; parts of the same floor must not import each other.
 */
export const FLOORS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  base: [
    ["disk"],
    ["files.ts", "folders.ts"],
    ["system"],
    ["paths.ts"],
    ["environment.ts", "text"],
    [
      "bytes.ts",
      "hash.ts",
      "is_object.ts",
      "media.ts",
      "names.ts",
      "problem.ts",
      "shell_word.ts",
      "visible.ts",
      "width.ts",
    ],
  ],
  parser: [
    ["library.ts", "lezer"],
    ["mod.ts"],
    ["json.ts", "prose.ts", "utf16.ts", "open_call.ts", "migrate.ts"],
    ["document.ts"],
    ["view", "edits"],
    ["tree"],
    ["text"],
    ["scan"],
    ["types.ts"],
  ],
  lua: [
    ["engine.ts"],
    ["library"],
    ["vm"],
    ["interpreter.generated.ts"],
  ],
  config: [
    ["load.ts", "frontmatter.ts"],
    ["load_hooks.ts"],
    ["document"],
    ["sources"],
    ["layers"],
    ["code"],
    ["schema"],
    ["data"],
    ["hooks"],
    ["settings.generated.ts"],
    ["values.ts"],
    ["rules"],
    ["types.ts"],
  ],
  sandbox: [
    ["mod.ts"],
    ["api.ts", "status.ts"],
    ["sandbox.ts"],
    ["run"],
    ["backends", "protect"],
    ["kernel"],
    ["outside"],
    ["git"],
    ["policy"],
    ["process", "network"],
    ["paths", "answers.ts"],
    ["types.ts"],
  ],
  tools: [
    ["mod.ts"],
    ["builtin", "skills", "vellum", "mcp"],
    ["approval"],
    ["context.ts", "preview.ts"],
    ["run.ts"],
    ["files"],
    ["registry.ts", "validate.ts", "overflow"],
    ["registration"],
    ["truncate.ts"],
    ["definition.ts"],
  ],
  prompt: [
    ["mod.ts"],
    ["conversation.ts"],
    ["evaluate.ts"],
    ["template"],
    ["references.ts", "assistant_parts.ts"],
    ["attach.ts", "attachments.ts"],
    ["excerpt.ts"],
    ["parts.ts", "file_log.ts", "file_references.ts", "blank.ts", "base64.ts", "find_key.ts"],
    ["types.ts"],
  ],
  providers: [
    ["registry.ts", "replay_provider.ts"],
    ["anthropic", "replay", "openai", "google", "chat_completions"],
    ["stream"],
    ["request"],
    ["http", "keys"],
    ["known.ts"],
    ["vendors.ts"],
    ["usage.ts"],
    ["models"],
    ["types.ts"],
  ],
  cycle: [
    ["mod.ts"],
    ["run"],
    ["execute", "send"],
    ["plan", "usage"],
    ["storage", "memory"],
    ["types.ts"],
  ],
  agent: [
    ["mod.ts"],
    ["open.ts"],
    ["session.ts"],
    ["compaction"],
    ["runtime"],
    ["views", "conversation", "rules"],
    ["tools.ts"],
    ["trust"],
    ["extensions"],
    ["review", "undo"],
    ["sandbox.ts"],
    ["settings.ts"],
    ["types.ts"],
  ],
  editors: [
    ["lsp", "acp"],
    ["rpc", "stop_words.ts"],
  ],
  render: [
    ["terminal", "html"],
    ["conversation.ts", "plain.ts", "mask.ts"],
    ["markdown.ts", "secrets.ts", "result_words.ts"],
    ["types.ts"],
  ],
  commands: [
    ["start"],
    ["main.ts"],
    ["load.ts"],
    ["setup", "catalog", "write", "serve"],
    ["sandbox", "run", "read"],
    ["settings", "approval"],
    ["document"],
    ["invocation.ts"],
    ["io", "line"],
  ],
};

/**
 * Closed folders, with the rooms, folders or files that may import from them. A folder's own files may always import
 * from it.
 */
export const INSIDE: Readonly<Record<string, readonly string[]>> = {
  "parser/scan": ["parser/text"],
  "parser/tree": ["parser"],
  "lua/vm": ["lua", "config/document", "prompt/template"],
  "lua/library": ["lua", "config/document", "prompt/template"],
  "config/document": ["config", "agent", "prompt", "commands/settings"],
  "sandbox/backends": ["sandbox"],
  "sandbox/git": ["sandbox"],
  "sandbox/kernel": ["sandbox"],
  "sandbox/network": ["sandbox"],
  "sandbox/protect": ["sandbox"],
  "sandbox/run": ["sandbox"],
  "prompt/template": ["prompt", "agent"],
  "providers/request": ["providers", "cycle/send", "cycle/memory"],
  "providers/anthropic": ["providers"],
  "providers/openai": ["providers"],
  "providers/google": ["providers"],
  "providers/chat_completions": ["providers"],
  "providers/replay/strict": ["providers/replay"],
  "cycle/execute": ["cycle"],
  "cycle/plan": [
    "cycle",
    "agent",
    "commands/run",
    "commands/read",
    "commands/write",
    "commands/line",
    "editors/lsp",
  ],
  "cycle/send": ["cycle", "agent", "commands/read", "commands/write"],
  "tools/builtin": ["tools", "agent"],
  "commands/io": ["commands"],
  "commands/line": ["commands"],
  "commands/document": ["commands"],
  "commands/run": ["commands"],
  "commands/read": ["commands"],
  "commands/write": ["commands"],
  "commands/settings": ["commands"],
  "commands/approval": ["commands"],
  "commands/sandbox": ["commands"],
  "commands/setup": ["commands"],
  "commands/serve": ["commands"],
};

/** Folders with modules that are not rooms: the program must not import them. */
export const OUTSIDE: readonly string[] = ["bench", "examples", "scripts", "tests"];

/** Folders created by builds and installations, which git ignores too. */
export const MADE: readonly string[] = ["coverage", "dist", "node_modules"];

/** Maximum number of entries of a folder of modules; a folder with more must be split. */
export const MOST_ENTRIES = 16;

/** Folders that may have more entries, because a test is found by its name. */
export const UNSORTED: readonly string[] = ["tests"];
