// Parts of requests that servers refused, remembered for some days so that they are not refused in every run.

import type { Environment } from "../../base/environment.ts";
import { replaceSmallFile } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { isObject } from "../../base/is_object.ts";
import { parentOf } from "../../base/paths.ts";
import { USER_AGENT } from "../../providers/request/wire.ts";
import type { RequestFallback } from "../../providers/types.ts";

/** The server and model that refused something. */
export interface RefusingServer {
  readonly baseUrl: string;
  readonly model: string;
}

/** A refusal, with the day on which it was met. */
export interface Refusal extends RefusingServer {
  readonly rule: RequestFallback;
  readonly day: string;
}

/** Days for which a refusal is remembered: a server may learn what it refused. */
const DAYS = 30;

/** Refusals that depend only on server and model. All others depend on the content of the request. */
const LASTING: ReadonlySet<RequestFallback> = new Set<RequestFallback>([
  "reasoning-field",
  "sampling",
  "bare-calls",
  "system-role",
  "long-ids",
  "thinking",
  "summary",
  "retention",
  "token-counts",
  "store",
  "server-tools",
]);

/** Returns what a server has refused for a model in the last days. A new version of flemma starts with nothing. */
export async function rememberedRefusals(
  environment: Environment,
  { baseUrl, model }: RefusingServer,
  today: string,
): Promise<readonly Refusal[]> {
  const all = await readRefusals(environment, today);
  return all.filter((refusal) => refusal.baseUrl === baseUrl && refusal.model === model);
}

/** Remembers refusals after a request without the refused parts succeeded. Others than lasting ones are ignored. */
export async function rememberRefusals(
  environment: Environment,
  server: RefusingServer,
  rules: readonly RequestFallback[],
  today: string,
): Promise<void> {
  const news = rules.filter((rule) => LASTING.has(rule)).map((rule): Refusal => ({
    baseUrl: server.baseUrl,
    model: server.model,
    rule,
    day: today,
  }));
  if (news.length === 0) return;
  const others = (await readRefusals(environment, today)).filter((known) =>
    !news.some(({ baseUrl, model, rule }) =>
      known.baseUrl === baseUrl && known.model === model && known.rule === rule
    )
  );
  const text = JSON.stringify({ version: USER_AGENT, refusals: [...others, ...news] }, null, 1);
  const path = fileOf(environment);
  await Deno.mkdir(parentOf(path), { recursive: true, mode: 0o700 });
  await replaceSmallFile(path, new TextEncoder().encode(`${text}\n`), { durable: false });
}

async function readRefusals(environment: Environment, today: string): Promise<readonly Refusal[]> {
  try {
    const stored: unknown = JSON.parse(await Deno.readTextFile(fileOf(environment)));
    if (!isObject(stored) || stored.version !== USER_AGENT || !Array.isArray(stored.refusals)) return [];
    return stored.refusals.filter((value): value is Refusal =>
      isRefusal(value) && isRecent(value.day, today)
    );
  } catch {
    // Without the file, the server refuses once more, and the file is written again.
    return [];
  }
}

function isRefusal(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { baseUrl, model, rule, day } = value;
  return [baseUrl, model, day].every((text) => typeof text === "string") &&
    LASTING.has(rule as RequestFallback);
}

function isRecent(day: string, today: string): boolean {
  const age = (Date.parse(today) - Date.parse(day)) / 86_400_000;
  return age >= 0 && age <= DAYS;
}

function fileOf(environment: Environment): string {
  return `${stateFolder(environment)}/refusals.json`;
}
