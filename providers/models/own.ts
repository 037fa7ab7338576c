// Models that settings or a fetched list define. Their facts override those of a similar model.

import type { ModelSetting } from "../../config/values.ts";
import { effortsOf } from "./table.ts";
import type { Model, ModelThinking, ThinkingKind } from "./types.ts";

/** Token limits assumed if neither the setting nor a similar model gives any. */
const CONTEXT = 200_000;
const MAX_OUTPUT = 32_000;

const WORDS = ["low", "medium", "high", "max"] as const;

/**
 * Combines the facts of a model.
 *
 * @param id the model's name in requests
 * @param setting the stated facts
 * @param like the model whose facts apply where none are stated, or null
 */
export function ownModel(id: string, setting: ModelSetting, like: Model | null): Model {
  const base: Model = like ?? {
    id,
    state: "current",
    context: CONTEXT,
    maxOutput: MAX_OUTPUT,
    prices: [],
    thinking: thinkingOf(id.startsWith("claude-") ? "adaptive" : "none"),
    refuses: id.startsWith("claude-")
      ? { temperature: "always", prefill: "always", forcedTools: "always" }
      : {},
  };
  const { aliases: _aliases, ...facts } = base;
  const { input, output, cache_read, cache_write, cache_write_long } = setting.prices ?? {};
  const context = setting.context ?? base.context;
  return {
    ...facts,
    id,
    context,
    maxOutput: Math.min(setting.max_output ?? base.maxOutput, context),
    ...(input === undefined || output === undefined ? {} : {
      prices: [{
        input,
        output,
        ...(cache_read === undefined ? {} : { cache_read }),
        ...(cache_write === undefined ? {} : { cache_write }),
        ...(cache_write_long === undefined ? {} : { cache_write_long }),
      }],
    }),
    ...(setting.thinking === undefined ? {} : { thinking: thinkingOf(setting.thinking) }),
  };
}

function thinkingOf(kind: ThinkingKind): ModelThinking {
  switch (kind) {
    case "none":
      return { kind, unasked: "off" };
    case "budget":
      return { kind, unasked: "off", minBudget: 1024 };
    case "switch":
      return { kind, unasked: "on" };
    default:
      return { kind, unasked: "on", words: WORDS, efforts: effortsOf(WORDS) };
  }
}
