// Version 2 of the protocol: what the agent says in version 1, in the form of version 2.

import type {
  AvailableCommand,
  SessionConfigOption,
  SessionUpdate,
  ToolCallContent,
} from "@agentclientprotocol/sdk";
import type * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { formatUnifiedDiff } from "../../agent/review/unified.ts";
import { isObject } from "../../base/is_object.ts";

/** The versions of the protocol that the agent speaks. */
export type Version = 1 | 2;

/** Highest version at or below the one that a client asks for; clients that name none get version 1. */
export function versionFor(asked: unknown): Version {
  return typeof asked === "number" && asked >= 2 ? 2 : 1;
}

/** The answer to `initialize`. */
export function answerInitialize(version: string): v2.InitializeResponse {
  return {
    protocolVersion: 2,
    info: { name: "flemma", version },
    capabilities: {
      session: { prompt: { image: {}, embeddedContext: {} }, mcp: { stdio: {}, http: {} }, delete: {} },
    },
  };
}

/** Returns an update in version 2; null if version 2 has no such update. */
export function convertUpdate(update: SessionUpdate): v2.SessionUpdate | null {
  switch (update.sessionUpdate) {
    case "tool_call":
      return { ...update, ...convertCall(update) } as v2.SessionUpdate;
    case "tool_call_update":
      return {
        ...update,
        ...convertCall(update),
        capabilities: cancelable(update.status),
      } as v2.SessionUpdate;
    case "plan":
      return {
        sessionUpdate: "plan_update",
        plan: { type: "items", planId: "calls", entries: update.entries },
      };
    case "config_option_update":
      return { sessionUpdate: "config_option_update", configOptions: convertOptions(update.configOptions) };
    case "available_commands_update":
      return {
        sessionUpdate: "available_commands_update",
        availableCommands: convertCommands(update.availableCommands),
      };
    // The mode is one of the options.
    case "current_mode_update":
      return null;
    default:
      return update as v2.SessionUpdate;
  }
}

/** A running call can be canceled alone. */
function cancelable(status: unknown): v2.ToolCallCapabilities | null {
  return status === "in_progress" ? { cancel: {} } : null;
}

function convertCall({ content }: { readonly content?: readonly ToolCallContent[] | null }) {
  const items = content?.map(convertContent);
  return { sessionUpdate: "tool_call_update" as const, ...(items === undefined ? {} : { content: items }) };
}

/** Version 2 names the changed file, and shows the change as a patch. */
function convertContent(item: ToolCallContent): v2.ToolCallContent {
  if (item.type !== "diff") return item as v2.ToolCallContent;
  const { path, oldText = null, newText } = item;
  const change: v2.DiffChange = oldText === null ? { operation: "add", path } : { operation: "modify", path };
  const changed = formatUnifiedDiff(path, oldText === null ? null : linesOf(oldText), linesOf(newText));
  const text = changed === null ? null : `diff --git ${path} ${path}\n${changed}`;
  return {
    type: "diff",
    changes: [change],
    ...(text === null ? {} : { patch: { format: "git_patch", text } }),
  };
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

export function convertOptions(options: readonly SessionConfigOption[]): v2.SessionConfigOption[] {
  return options.map(({ id, ...rest }) => ({ ...rest, configId: id }) as unknown as v2.SessionConfigOption);
}

export function convertCommands(commands: readonly AvailableCommand[]): v2.AvailableCommand[] {
  return commands.map(({ name, description, input }) => ({
    type: "command",
    name,
    description,
    ...(input ? { input: { type: "text", hint: input.hint } } : {}),
  }));
}

/** The question about a call, with what the person must know about it. */
export function buildPermission(
  { sessionId, toolCall, options, reasons }: {
    readonly sessionId: string;
    readonly toolCall: { readonly title: string; readonly content?: readonly ToolCallContent[] | null };
    readonly options: readonly v2.PermissionOption[];
    readonly reasons: readonly string[];
  },
): Record<string, unknown> {
  const { sessionUpdate: _, ...call } = { ...toolCall, ...convertCall(toolCall) };
  return {
    sessionId,
    title: toolCall.title,
    ...(reasons.length === 0 ? {} : { description: reasons.join("\n") }),
    subject: { type: "tool_call", toolCall: call },
    options,
  };
}

/** Returns why the MCP servers of a client cannot be used; null if they can. */
export function findServerProblem(servers: unknown): string | null {
  const names = new Set<unknown>();
  for (const each of Array.isArray(servers) ? servers : []) {
    const { name, type } = isObject(each) ? each : {};
    if (type !== "stdio" && type !== "http") return `MCP servers of the type ${String(type)} cannot be used.`;
    if (names.has(name)) return `Two MCP servers have the name ${String(name)}.`;
    names.add(name);
  }
  return null;
}
