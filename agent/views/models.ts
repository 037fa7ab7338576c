// Lists the models of a provider. Combines the program's own table with the provider's list and with the settings.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { resolveCredential } from "../../providers/keys/credentials.ts";
import { listUrl, resolveBaseUrl } from "../../providers/http/endpoint.ts";
import { openNetwork } from "../../providers/http/network.ts";
import { transportError } from "../../providers/http/transport_error.ts";
import { choiceOf } from "../../providers/models/choice.ts";
import { dayOf, findModel, isGone, modelsOf, pricesAt } from "../../providers/models/find.ts";
import { type ListedFacts, listRequest, readList } from "../../providers/models/listing.ts";
import type { Day, Model, Prices } from "../../providers/models/types.ts";
import { getProvider } from "../../providers/registry.ts";
import { helperPlace } from "../extensions/helper_place.ts";
import { keepLearned, learnedModels, withLearned, withoutThinking } from "../../providers/models/learned.ts";

/** One model of a provider. */
export interface ModelRow {
  readonly name: string;
  /** State of the model. `unknown` means that the provider lists it, and the program knows nothing more about it. */
  readonly state: Model["state"] | "unknown";
  /** What selects the model: the current settings, no setting (`default`), or the names `$best` and `$cheap`. */
  readonly marks: readonly ("in force" | "default" | "$best" | "$cheap")[];
  /** Number of tokens of the context window. */
  readonly context: number | null;
  /** Maximum number of tokens of a reply. */
  readonly maxOutput: number | null;
  /** Dollars per million tokens today, for a short prompt. */
  readonly prices: Prices | null;
  readonly ends: string | null;
  /** False if the provider's own list omits it; null if that list was never read. */
  readonly listed: boolean | null;
}

export interface ModelList {
  readonly provider: string;
  /** The day when the provider's own list was read; null for never. */
  readonly read: string | null;
  readonly models: readonly ModelRow[];
}

/** Lists the models of a provider, without those that were shut down. */
export async function modelList(
  { environment, settings, provider, now = new Date() }: ModelQuestion,
): Promise<ModelList> {
  const learned = await learnedModels(environment, provider);
  const known = await withLearned(environment, { ...settings, provider });
  const day = dayOf(now);
  const current = settings.provider === provider ? settings.model ?? choiceOf(provider)?.standard : undefined;
  const choice = choiceOf(provider);
  const models = modelsOf(provider, known).filter((model) => !isGone(model, day)).map((model): ModelRow => {
    const names = [model.id, ...(findModel(provider, model.id)?.aliases ?? [])];
    const isMeant = (name: string | undefined) => name !== undefined && names.includes(name);
    const unknown = findModel(provider, model.id) === null;
    return {
      name: model.id,
      state: unknown && settings.providers[provider]?.models?.[model.id] === undefined
        ? "unknown"
        : model.state,
      marks: [
        ...(isMeant(current) ? ["in force" as const] : []),
        ...(isMeant(choice?.standard) ? ["default" as const] : []),
        ...(isMeant(choice?.best) ? ["$best" as const] : []),
        ...(isMeant(choice?.cheap) ? ["$cheap" as const] : []),
      ],
      context: model.context,
      maxOutput: model.maxOutput,
      prices: pricesAt(model, day, 0),
      ends: model.ends ?? null,
      listed: learned === null ? null : names.some((name) => Object.hasOwn(learned.models, name)),
    };
  });
  const isMissing = current !== undefined && !models.some(({ marks }) => marks.includes("in force"));
  return {
    provider,
    read: learned?.day ?? null,
    models: isMissing ? [...models, unknownRow(current, learned === null ? null : false)] : models,
  };
}

/** Returns the row of a selected model that is unknown or no longer available from its provider. */
function unknownRow(name: string, listed: boolean | null): ModelRow {
  return {
    name,
    state: "unknown",
    marks: ["in force"],
    context: null,
    maxOutput: null,
    prices: null,
    ends: null,
    listed,
  };
}

export interface ModelQuestion {
  readonly environment: Environment;
  readonly settings: Settings;
  /** Name of the provider in the settings. */
  readonly provider: string;
  /** Function that makes the request. @default `fetch` of the runtime */
  readonly fetch?: typeof fetch;
  /** The time to use as the present. @default now */
  readonly now?: Date;
}

/** Seconds after which the request for a list is stopped. */
const LIST_SECONDS = 30;

/**
 * Requests a provider's own list and caches it. Returns the number of its models. An empty list does not replace an
 * earlier one.
 */
export async function refreshModels(question: ModelQuestion): Promise<Outcome<number>> {
  const { environment, settings, provider, now = new Date() } = question;
  const listed = await fetchModels(question);
  if (!listed.ok) return listed;
  const count = Object.keys(listed.value).length;
  if (count === 0) {
    return failure(
      "models-none",
      `The server of ${provider} lists no models, so its earlier list stays.`,
      "Load a model on the server, or check its address, then try again.",
    );
  }
  const day = dayOf(now);
  await keepLearned(environment, provider, { day, models: newsOf(provider, listed.value, settings, day) });
  return success(count);
}

/** Requests a provider's own list. */
export async function fetchModels(question: ModelQuestion): Promise<Outcome<ListedFacts>> {
  const { environment, settings, provider: name } = question;
  const provider = await getProvider(name, settings);
  if (!provider.ok) return provider;
  const baseUrl = resolveBaseUrl(provider.value, settings, environment);
  if (!baseUrl.ok) return baseUrl;
  const credential = await resolveCredential({
    provider: provider.value,
    environment,
    settings,
    helpers: helperPlace(settings, environment, null),
  });
  if (!credential.ok) return credential;
  const asked = listRequest(provider.value, credential.value.secret, settings);
  if (asked === null) {
    return failure(
      "models-unlisted",
      `${provider.value.display} has no model list that a token can read.`,
      `List the models known to flemma: flemma models list ${name}`,
    );
  }
  const url = new URL(listUrl(baseUrl.value, asked.path));
  for (const [name, value] of new URLSearchParams(asked.query)) url.searchParams.set(name, value);
  const network = await openNetwork(url.href, environment);
  if (!network.ok) return network;
  let answer: Response;
  let text: string;
  try {
    answer = await (question.fetch ?? network.value.fetch)(url, {
      headers: asked.headers,
      redirect: "manual",
      signal: AbortSignal.timeout(LIST_SECONDS * 1000),
    });
    text = await answer.text();
  } catch (thrown) {
    const { message, next } = transportError(thrown, {
      request: { url: url.href },
      proxy: network.value.proxy,
    });
    return failure(
      "models-unreachable",
      `The model list of ${provider.value.display} cannot be read. ${message}`,
      next ?? "Check the connection and the address, then try again.",
    );
  } finally {
    network.value.close();
  }
  const body = decoded(text);
  if (!answer.ok) {
    return { ok: false, problem: provider.value.readError(body ?? text, answer.headers, answer.status) };
  }
  const models = readList(body);
  if (models === null) {
    return failure(
      "models-unreadable",
      `The reply of ${url.host} to ${url.pathname} is not a model list.`,
      "Check the address of the provider: providers.NAME.base_url.",
    );
  }
  return success(models);
}

/**
 * Returns the facts from a provider's list that the program's own table lacks. The table knows more about thinking, and
 * about prices that depend on the day and the prompt. A day of retirement that has passed only means that it is late.
 */
function newsOf(provider: string, models: ListedFacts, settings: Settings, day: Day): ListedFacts {
  // What the person says about models takes precedence anyway, and must not hide what the list says.
  const kind = settings.providers[provider]?.kind;
  const tables = { providers: { [provider]: { kind } } };
  return Object.fromEntries(
    Object.entries(models).map(([name, { ends, ...facts }]) => {
      const known = findModel(provider, name, tables);
      const { prices, ...limits } = withoutThinking(facts);
      const news = known === null
        ? facts
        : prices === undefined || known.prices.length > 0
        ? limits
        : { ...limits, prices };
      return [name, ends === undefined || ends <= day ? news : { ...news, ends }];
    }),
  );
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports that the answer is not a list.
    return null;
  }
}
