// Models that settings or a fetched list define. Their facts override those of a similar model.

import type { ModelSetting } from "../../config/values.ts";
import { effortsOf } from "./table.ts";
import type { Model, ModelThinking, ThinkingKind } from "./types.ts";

const WORDS = ["low", "medium", "high", "max"] as const;

/** A model of which nothing is known but its name. */
const NO_FACTS: Omit<Model, "id"> = {
  state: "current",
  context: null,
  maxOutput: null,
  prices: [],
  thinking: null,
  refuses: null,
  prefixCheck: null,
};

/**
 * Combines the facts of a model. A fact that neither the setting nor a similar model states stays unknown.
 *
 * @param id the model's name in requests
 * @param setting the stated facts
 * @param like the model whose facts apply where none are stated, or null
 */
export function ownModel(id: string, setting: ModelSetting, like: Model | null): Model {
  const { aliases: _aliases, ...facts } = like ?? { id, ...NO_FACTS };
  const { input, output, cache_read, cache_write, cache_write_long } = setting.prices ?? {};
  const context = setting.context ?? facts.context;
  return {
    ...facts,
    id,
    context,
    maxOutput: smaller(setting.max_output ?? facts.maxOutput, context),
    ...(input === undefined || output === undefined ? {} : {
      prices: [{
        input,
        output,
        ...(cache_read === undefined ? {} : { cache_read }),
        ...(cache_write === undefined ? {} : { cache_write }),
        ...(cache_write_long === undefined ? {} : { cache_write_long }),
      }],
    }),
    ...(setting.ends === undefined ? {} : { ends: setting.ends }),
    ...thinkingFacts(setting, facts.thinking),
  };
}

/** Returns the smaller of two limits, of which either may be unknown; null if the first is unknown. */
function smaller(limit: number | null, other: number | null): number | null {
  return limit === null || other === null ? limit : Math.min(limit, other);
}

/** Returns how thinking is configured, as far as the setting states it. */
function thinkingFacts(
  { thinking, efforts, thinking_off: off }: ModelSetting,
  known: ModelThinking | null,
): Pick<Model, "thinking"> {
  const facts = thinking === undefined ? known : thinkingOf(thinking);
  if (facts === null) return { thinking: null };
  return {
    thinking: {
      ...facts,
      ...(off === undefined || facts.kind !== "adaptive" ? {} : { off, unasked: "on" }),
      ...(efforts === undefined || facts.efforts === undefined
        ? {}
        : { words: efforts, efforts: effortsOf(efforts.filter((word) => word !== "none")) }),
    },
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
