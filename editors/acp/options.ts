// What a person may set for one conversation in the client: the model, how much it thinks, whether the loop goes on by itself.

import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { ChatSession } from "../../agent/types.ts";
import { modelAsked, modelNames } from "../../agent/views/model_names.ts";

/** What was chosen, as settings on top of all files. */
export type Chosen = Readonly<Record<string, string>>;

const MODES = [
  { id: "autopilot", name: "Autopilot", description: "Goes on by itself until you are needed." },
  { id: "step", name: "Step by step", description: "Stops after every reply with calls." },
] as const;

const THINKING = ["off", "low", "medium", "high", "max"];

/** The settings that choices come to. */
export function overridesOf(chosen: Chosen): Record<string, unknown> {
  return {
    ...(chosen.model === undefined ? {} : { model: chosen.model }),
    ...(chosen.thinking === undefined
      ? {}
      : { thinking: chosen.thinking === "off" ? false : chosen.thinking }),
    ...(chosen.mode === undefined ? {} : { tools: { autopilot: { enabled: chosen.mode === "autopilot" } } }),
  };
}

/** What can be chosen, and what holds now. */
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

/** The same as older clients know it. */
export function modes({ settings }: ChatSession): SessionModeState {
  return { currentModeId: modeOf(settings), availableModes: MODES.map((mode) => ({ ...mode })) };
}

/** Whether a choice is one. */
export function isChoice(session: ChatSession, id: string, value: string): boolean {
  const option = configOptions(session).find((each) => each.id === id);
  if (option?.type !== "select") return false;
  return option.options.some((each) => "value" in each && each.value === value);
}

function modeOf(settings: ChatSession["settings"]): string {
  return settings.tools.autopilot.enabled ? "autopilot" : "step";
}
