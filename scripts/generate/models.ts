// Writes the page of models from the program's own tables, and the models of `$best` and `$cheap`.

import { listedChoice, listedModels, listedProviders } from "../../providers/models/table.ts";
import type { PricePeriod, Prices, TabledModel } from "../../providers/models/types.ts";

export function generate(): Promise<{ path: string; text: string }[]> {
  return Promise.resolve([
    { path: "docs/reference/models.md", text: page() },
    { path: "config/layers/model_choices.generated.ts", text: choices() },
  ]);
}

function choices(): string {
  const rows = listedProviders().map((provider) => ({ provider, ...listedChoice(provider) }));
  return [
    "// Made from providers/models/models.json by scripts/generate/models.ts (deno task generate).",
    "",
    "/** The models that the built-in presets of models stand for, by provider. */",
    "export const MODEL_CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {",
    ...rows.map(({ provider, best, cheap }) => `  ${provider}: { $best: "${best}", $cheap: "${cheap}" },`),
    "};",
    "",
    "/** The model of each provider where settings name none. */",
    "export const STANDARD_MODELS: Readonly<Record<string, string>> = {",
    ...rows.map(({ provider, standard }) => `  ${provider}: "${standard}",`),
    "};",
    "",
  ].join("\n");
}

function page(): string {
  return [
    "# Models",
    "",
    "The models that flemma knows: token limits, prices in dollars per million tokens, thinking, and what they refuse. `deno task generate`",
    "makes this page from the program's own tables, as of November 2026. You can use a name that is not listed.",
    "",
    "`flemma models list` shows the models as your settings define them; `flemma models list --refresh` asks the provider for its own list.",
    "`model: $best` and `model: $cheap` select the strongest and the cheapest model of the current provider. To describe another model, or to",
    "correct a known one:",
    "",
    "```yaml",
    "providers:",
    "  anthropic:",
    "    models:",
    "      claude-next-6: { like: claude-opus-5-5, prices: { input: 5, output: 25 } }",
    "```",
    "",
    "Members: `context`, `max_output`, `thinking` (`adaptive`, `effort`, `budget`, `switch`, `none`), `efforts` (a list, weakest first),",
    "`thinking_off` (`disabled`, `between_tools`), `ends` (a day) and `prices` (`input`, `output`, `cache_read`, `cache_write`,",
    "`cache_write_long`). A missing member comes from the model named by `like`, or else from the known model of this name. A fact that",
    "nothing states stays unknown: flemma decides as for a model without an entry, and shows no number. If the longest reply is unknown and",
    "`max_tokens` is a percentage, flemma asks for at most 16,000 tokens; that number is flemma's choice. If a request used the cache and the",
    "price of that is unknown, its cost is unknown too.",
    "",
    ...listedProviders().flatMap(section),
  ].join("\n");
}

function section(provider: string): string[] {
  const { standard, best, cheap } = listedChoice(provider);
  const models = listedModels(provider);
  const gone = models.filter(({ state }) => state === "gone");
  return [
    `## ${provider}`,
    "",
    `Default: \`${standard}\`. \`$best\`: \`${best}\`. \`$cheap\`: \`${cheap}\`.`,
    "",
    "| model | context | reply | in / out / cache read / cache write | thinking | refuses | remarks |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...models.filter(({ state }) => state !== "gone").map(row),
    "",
    ...(gone.length === 0 ? [] : [
      `No longer served: ${gone.map(({ id, successor }) => `\`${id}\` (now \`${successor}\`)`).join(", ")}.`,
      "",
    ]),
  ];
}

function row(model: TabledModel): string {
  const { id, aliases = [], context, maxInput, maxOutput } = model;
  const cells = [
    [id, ...aliases].map((name) => `\`${name}\``).join(", "),
    maxInput === undefined ? count(context) : `${count(context)} (prompt ${count(maxInput)})`,
    count(maxOutput),
    model.prices.length === 0 ? "not known" : model.prices.map(period).join("; "),
    thinking(model),
    refusals(model),
    remarks(model),
  ];
  return `| ${cells.join(" | ")} |`;
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

function period({ from, above, ...prices }: PricePeriod): string {
  const since = from === undefined ? "" : `from ${from}: `;
  const step = above === undefined ? "" : `, above ${count(above.tokens)}: ${dollars(above)}`;
  return `${since}${dollars(prices)}${step}`;
}

function dollars(
  { input, output, cache_read: read, cache_write: short, cache_write_long: long }: Prices,
): string {
  const write = short === undefined ? "–" : long === undefined ? short : `${short} (hour ${long})`;
  return [input, output, read ?? "–", write].join(" / ");
}

function thinking({ thinking: { kind, unasked, words, defaultEffort } }: TabledModel): string {
  const efforts = words === undefined
    ? ""
    : `: ${words.map((word) => word === defaultEffort ? `**${word}**` : word).join(" ")}`;
  const when = kind === "none"
    ? ""
    : unasked === "always"
    ? ", always"
    : unasked === "on"
    ? ", unless off"
    : "";
  return `${kind}${when}${efforts}`;
}

function refusals({ refuses }: TabledModel): string {
  const { temperature, prefill, forcedTools } = refuses;
  return [
    ...(temperature === undefined
      ? []
      : [temperature === "always" ? "temperature" : "temperature while thinking"]),
    ...(prefill === undefined ? [] : [prefill === "always" ? "prefill" : "prefill while thinking"]),
    ...(forcedTools === "always" ? ["forced calls"] : []),
  ].join(", ");
}

function remarks({ state, released, ends, successor, note, prefixCheck }: TabledModel): string {
  return [
    ...(released === undefined ? [] : [`since ${released}`]),
    ...(ends === undefined ? [] : [`**ends ${ends}**`]),
    ...(state === "older" && successor !== undefined ? [`older, now \`${successor}\``] : []),
    ...(prefixCheck === "none"
      ? []
      : ["[checks the text before its thinking](providers.md#thinking-of-earlier-replies)"]),
    ...(note === undefined ? [] : [note]),
  ].join("; ");
}
