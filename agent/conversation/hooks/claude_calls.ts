// Calls as hooks written for Claude Code expect them: names of tools, inputs, results.

import { resolvePath } from "../../../base/paths.ts";
import type { ExecutionResult } from "../../../tools/definition.ts";

type Input = Readonly<Record<string, unknown>>;

/** A call under the name and with the members that it has in Claude Code. */
export interface ClaudeCall {
  readonly name: string;
  readonly input: Input;
  /** Absolute path of the file that the call works on; null if there is none. */
  readonly file: string | null;
}

/** A built-in tool: its name there, and the names of its members. */
interface ClaudeTool {
  readonly name: string;
  readonly members: Readonly<Record<string, string>>;
  /** Members that a call always has there, with their value if it has none here. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

const TOOLS: Readonly<Record<string, ClaudeTool>> = {
  bash: { name: "Bash", members: { command: "command", label: "description", timeout: "timeout" } },
  read: { name: "Read", members: { path: "file_path", offset: "offset", limit: "limit" } },
  write: { name: "Write", members: { path: "file_path", content: "content" } },
  edit: {
    name: "Edit",
    members: { path: "file_path", oldText: "old_string", newText: "new_string", replaceAll: "replace_all" },
    defaults: { replace_all: false },
  },
  grep: { name: "Grep", members: { pattern: "pattern", path: "path", glob: "glob", limit: "head_limit" } },
  find: { name: "Glob", members: { pattern: "pattern", path: "path" } },
  ls: { name: "LS", members: { path: "path" } },
};

/** Returns the name that a tool has in Claude Code. */
function claudeName(tool: string): string {
  if (Object.hasOwn(TOOLS, tool)) return TOOLS[tool]!.name;
  const server = /^([^:]+):(.+)$/s.exec(tool);
  return server === null ? tool : `mcp__${server[1]}__${server[2]}`;
}

/**
 * Translates a call. Members without a value are left out, and paths become absolute.
 *
 * @param place folder in which the call works, and the home folder
 */
export function claudeCall(
  tool: string,
  input: Input,
  place: { readonly folder: string; readonly home: string },
): ClaudeCall {
  const known = Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
  if (known === undefined) return { name: claudeName(tool), input, file: null };
  const path = typeof input.path === "string" ? resolvePath(input.path, place) : null;
  const members = Object.entries(known.members).flatMap(([own, there]): [string, unknown][] => {
    const value = own === "path" ? path ?? undefined : input[own];
    if (value === undefined || value === null) return [];
    // Seconds here, milliseconds there.
    return [[there, own === "timeout" && typeof value === "number" ? value * 1000 : value]];
  });
  return {
    name: known.name,
    input: { ...known.defaults, ...Object.fromEntries(members) },
    file: known.members.path === "file_path" ? path : null,
  };
}

/** Returns the result of a call, as hooks after a call expect it. */
export function claudeResponse({ name, input }: ClaudeCall, result: ExecutionResult): Input {
  const { output } = result;
  const text = typeof output === "string" ? output : output === undefined ? "" : JSON.stringify(output);
  switch (name) {
    case "Write":
    case "Edit":
      return { filePath: input.file_path, success: result.success };
    case "Bash": {
      const code = /exit code (\d+)/.exec(result.status ?? "")?.[1];
      return {
        stdout: result.success ? text : result.error ?? text,
        stderr: "",
        interrupted: !result.success && code === undefined,
        exit_code: result.success ? 0 : code === undefined ? null : Number(code),
      };
    }
    default:
      return { content: text };
  }
}

/** True if the input that a hook wants differs from that of the call. Members that it omits stay as they are. */
export function changesInput(wanted: Input, { input }: ClaudeCall): boolean {
  return Object.entries(wanted).some(([name, value]) => canonical(value) !== canonical(input[name]));
}

function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
        : inner,
  ) ?? "undefined";
}
