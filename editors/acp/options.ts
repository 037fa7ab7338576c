// The options of one conversation in the client: the model, the thinking level, autopilot.

import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { ChatSession } from "../../agent/types.ts";
import { modelAsked, modelNames } from "../../agent/views/model_names.ts";
import { isObject } from "../../base/is_object.ts";

/** The chosen options, as settings that override all files. */
export type Chosen = Readonly<Record<string, string>>;

const MODES = [
  { id: "autopilot", name: "Autopilot", description: "Continue until you are needed." },
  { id: "step", name: "Step by step", description: "Stop after every reply with tool calls." },
] as const;

const THINKING = ["off", "low", "medium", "high", "max"];

export function overridesFromChoice(chosen: Chosen): Record<string, unknown> {
  return {
    ...(chosen.model === undefined ? {} : { model: chosen.model }),
    ...(chosen.thinking === undefined
      ? {}
      : { thinking: chosen.thinking === "off" ? false : chosen.thinking }),
    ...(chosen.mode === undefined ? {} : { tools: { autopilot: { enabled: chosen.mode === "autopilot" } } }),
  };
}

/**
 * Returns the settings for a client's MCP servers. They start in the sandbox, whatever the person's settings say about
 * a server of that name; invalid entries are dropped.
 */
export function serversOf(mcpServers: unknown): Record<string, unknown> {
  if (!Array.isArray(mcpServers)) return {};
  const servers: Record<string, unknown> = {};
  for (const each of mcpServers.filter(isObject)) {
    const { name, type, command, args, env, url, headers } = each;
    const is = { enabled: true, sandbox: true, include: ["*"], exclude: [] };
    // The name of a tool begins with the name of its server.
    const called = typeof name === "string" ? name.replaceAll(/[^A-Za-z0-9_-]+/g, "_") : "";
    if (called === "") continue;
    if (type === "http" && typeof url === "string") {
      servers[called] = { ...is, url, headers: pairs(headers) };
    } else if ((type === undefined || type === "stdio") && typeof command === "string") {
      const words = Array.isArray(args) ? args.filter((each) => typeof each === "string") : [];
      servers[called] = { ...is, command, args: words, env: pairs(env) };
    }
  }
  return servers;
}

function pairs(list: unknown): Record<string, string> {
  const entries = Array.isArray(list) ? list.filter(isObject) : [];
  return Object.fromEntries(
    entries.flatMap(({ name, value }) =>
      typeof name === "string" && typeof value === "string" ? [[name, value]] : []
    ),
  );
}

export function configOptions({ settings }: ChatSession): SessionConfigOption[] {
  const model = modelAsked(settings) ?? "";
  const { level } = settings.parameters.thinking;
  const thinking = level === false || level === 0 ? "off" : String(level);
  const select = (
    id: string,
    name: string,
    category: string,
    currentValue: string,
    values: readonly string[],
  ) => ({
    type: "select" as const,
    id,
    name,
    category,
    currentValue,
    options: [...new Set([currentValue, ...values])].map((value) => ({ value, name: value })),
  });
  return [
    {
      ...select("mode", "Mode", "mode", modeOf(settings), []),
      options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
    },
    select("model", "Model", "model", model, modelNames(settings)),
    select("thinking", "Thinking", "thought_level", thinking, THINKING),
  ];
}

/** Returns the same options in the form for older clients. */
export function modes({ settings }: ChatSession): SessionModeState {
  return { currentModeId: modeOf(settings), availableModes: MODES.map((mode) => ({ ...mode })) };
}

/** True if a value is one of an option's choices. */
export function isChoice(session: ChatSession, id: string, value: string): boolean {
  const option = configOptions(session).find((each) => each.id === id);
  if (option?.type !== "select") return false;
  return option.options.some((each) => "value" in each && each.value === value);
}

function modeOf(settings: ChatSession["settings"]): string {
  return settings.tools.autopilot.enabled ? "autopilot" : "step";
}
