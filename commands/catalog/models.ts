// `flemma models list`: lists the models of a provider, with limits, prices and the current model.

import { modelList, type ModelRow, refreshModels } from "../../agent/views/models.ts";
import { nearest } from "../../base/names.ts";
import { providerNames } from "../../providers/registry.ts";
import { settingsFor } from "../document/read.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { plural } from "../../base/text/plural.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { environment, messages, arguments: given } = invocation;
  const subject = await settingsFor(invocation, { path: null, frontmatter: null, preamble: null });
  if (!subject.ok) return refuse(invocation, subject.problem);
  const { settings } = subject.value;
  const provider = given.positionals[0] ?? settings.provider;
  const names = providerNames(settings);
  if (!names.includes(provider)) {
    const near = nearest(provider, names);
    const message = `There is no provider named "${provider}".`;
    const next = near === null ? `Known providers: ${names.join(", ")}.` : `Did you mean ${near}?`;
    return refuse(invocation, { code: "usage", message, next });
  }
  const question = { environment, settings, provider };
  if (switchOption(given, "refresh") === true) {
    const refreshed = await refreshModels(question);
    if (!refreshed.ok) {
      messages.problem(refreshed.problem);
      return Exit.failure;
    }
    messages.note(`flemma: ${provider} lists ${plural(refreshed.value, "model")}.`);
  }
  const list = await modelList(question);
  if (switchOption(given, "json") === true) writeOutput(`${safeJson(list)}\n`);
  else {
    const heading = list.read === null ? provider : `${provider}, its own list as of ${list.read}`;
    const lines = list.models.length === 0
      ? [`  Its models are unknown. To fetch its list: flemma models list ${provider} --refresh`]
      : rows(list.models);
    writeLines(`${[heading, ...lines].join("\n")}\n`);
  }
  return Exit.ok;
}

function rows(models: readonly ModelRow[]): string[] {
  const width = Math.max(...models.map(({ name }) => name.length));
  return models.map((model) => {
    const { name, context, maxOutput, prices } = model;
    const limits = `${tokens(context).padStart(9)} ${tokens(maxOutput).padStart(9)}`;
    const cost = prices === null ? "price unknown" : `$${prices.input} in, $${prices.output} out`;
    return `  ${name.padEnd(width)} ${limits}   ${cost.padEnd(20)} ${remarks(model)}`.trimEnd();
  });
}

const WORDS = { older: "older", unknown: "unknown" } as const;

function tokens(count: number | null): string {
  return count === null ? "–" : count.toLocaleString("en-US");
}

function remarks({ marks, state, ends, listed }: ModelRow): string {
  return [
    ...marks.map((mark) => mark === "in force" ? "current" : mark),
    ...(state === "older" || (state === "unknown" && marks.includes("in force")) ? [WORDS[state]] : []),
    ...(ends === null ? [] : [`ends ${ends}`]),
    ...(listed === false ? ["not in the provider's list"] : []),
  ].join(", ");
}
