// Decides whether a refused request may succeed later, and when: from status, error codes and headers.

import { isObject } from "../../base/is_object.ts";
import type { ProviderError, Trouble } from "../types.ts";

/** A response that refuses the request. */
export interface RefusedResponse {
  /** Body as decoded JSON, or as text. */
  readonly body: unknown;
  readonly headers: Headers | null;
  /** HTTP status; undefined for an error inside a stream. */
  readonly status: number | undefined;
}

/** Statuses of server faults, including those of proxies and gateways in front of the server. */
const TROUBLE: ReadonlySet<number> = new Set([500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);

/**
 * Codes in error bodies that mean a server fault. They are needed for errors inside a stream, which have no HTTP
 * status.
 */
const TROUBLE_CODES: ReadonlySet<string> = new Set([
  "api_error",
  "overloaded_error",
  "timeout_error",
  "server_error",
  "server_is_overloaded",
  "slow_down",
  "rate_limit_exceeded",
  "rate_limit_reached_error",
  "engine_overloaded_error",
  "unavailable",
  "internal",
]);

/** Codes of a server that has too much load. */
const OVERLOADED: ReadonlySet<string> = new Set([
  "overloaded_error",
  "server_is_overloaded",
  "engine_overloaded_error",
]);

/** Matches codes of an account's rate limit. */
const LIMITED = /^rate_limit|^resource_exhausted$|^slow_down$/i;

/**
 * Matches messages about exhausted credit or a limit set by a person. Waiting changes nothing, and retrying may cost
 * money.
 */
const SPENT =
  /spend_limit|insufficient_quota|quota_exceeded|exceeded_current_quota|credit_balance|billing|per_?day/i;
const SPENT_WORDS = /spend(?:ing)? limit|specified API usage limits|credit balance|insufficient balance/i;

/** True if a body says that credit or a limit set by a person is used up. */
export function isSpent(body: unknown): boolean {
  const { codes, message } = readError(body);
  return codes.some((code) => SPENT.test(code)) || SPENT_WORDS.test(message);
}

/** Returns when a retry of the request may succeed; undefined if no retry will. */
export function temporary({ body, headers, status }: RefusedResponse): ProviderError["retry"] {
  const says = headers?.get("x-should-retry");
  if (says === "false" || isSpent(body)) return undefined;
  const { codes, message } = readError(body);
  const after = waitIn(headers) ?? delayIn(body) ?? resetIn(headers) ?? delayInWords(message);
  if (status === undefined || status < 400) {
    const known = codes.some((code) => TROUBLE_CODES.has(code.toLowerCase()));
    const limited = after !== null && codes.some((code) => LIMITED.test(code));
    return known || limited ? { after, trouble: troubleOf(status, codes) } : undefined;
  }
  const mayPass = TROUBLE.has(status) || status === 429 || codes.some((code) => RAMP_LIMIT.test(code));
  if (mayPass) return { after, trouble: troubleOf(status, codes) };
  return says === "true" ? { after } : undefined;
}

/** Returns why the provider could not answer. The status counts before the codes in the body. */
function troubleOf(status: number | undefined, codes: readonly string[]): Trouble {
  if (status === 429) return "limited";
  if (status === 529 || codes.some((code) => OVERLOADED.has(code.toLowerCase()))) return "overloaded";
  return codes.some((code) => LIMITED.test(code) || RAMP_LIMIT.test(code)) ? "limited" : "unavailable";
}

/** A limit that rises by itself, reported with a status of its own. */
const RAMP_LIMIT = /^ramp_limit/i;

/** Longest wait in seconds that is believed. A longer one is a mistake, or is in another unit. */
const LONGEST_WAIT = 30 * 86_400;

/** If headers say how long to wait, returns the number of seconds; otherwise null. `now` is in milliseconds. */
export function waitIn(headers: Headers | null, now: number = Date.now()): number | null {
  const exact = headers?.get("retry-after-ms")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(exact)) return usable(Number(exact) / 1000);
  const value = headers?.get("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(value)) return usable(Number(value));
  // A value that is not a number may be an HTTP date, which begins with a weekday.
  return /^[A-Za-z]{3}/.test(value) ? usable((Date.parse(value) - now) / 1000) : null;
}

/** Returns a wait of these seconds; null if it is over, too long or not a number. */
function usable(seconds: number): number | null {
  return seconds > 0 && seconds <= LONGEST_WAIT ? seconds : null;
}

/**
 * Returns the seconds until the last of the exhausted limits is reset, by headers such as
 * `anthropic-ratelimit-tokens-reset`; null if none says so. A limit without a remaining count counts as exhausted.
 */
export function resetIn(headers: Headers | null, now: number = Date.now()): number | null {
  const waits = [...headers ?? []].flatMap(([name, value]) => {
    if (!/ratelimit.*reset/.test(name)) return [];
    const remaining = headers!.get(name.replace("reset", "remaining"));
    if (remaining !== null && Number(remaining) > 0) return [];
    const seconds = secondsUntil(value.trim(), now);
    return seconds === null ? [] : [seconds];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

/** Seconds of each unit in a duration such as `6m0s`. */
const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** Reads the time of a reset: seconds, a time since 1970 in seconds or milliseconds, a date, or a duration. */
function secondsUntil(value: string, now: number): number | null {
  if (/^\d+(?:\.\d+)?$/.test(value)) {
    const number = Number(value);
    return usable(number > 1e12 ? (number - now) / 1000 : number > 1e9 ? number - now / 1000 : number);
  }
  if (/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(value)) {
    const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
    return usable(parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0));
  }
  return /^\d{4}-\d\d-\d\dT/.test(value) ? usable((Date.parse(value) - now) / 1000) : null;
}

/** Reads Google's wait time from the error details: `{"@type": "….RetryInfo", "retryDelay": "14s"}`. */
function delayIn(body: unknown): number | null {
  const { details } = errorIn(body);
  if (!Array.isArray(details)) return null;
  for (const detail of details) {
    if (!isObject(detail) || typeof detail.retryDelay !== "string") continue;
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(detail.retryDelay)?.[1];
    if (seconds !== undefined) return usable(Number(seconds));
  }
  return null;
}

/** Reads the wait from a message such as "Please try again in 1m20s", for errors inside a stream. */
function delayInWords(message: string): number | null {
  const words = /\b(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)/i.exec(message)?.[1];
  return words === undefined ? null : secondsUntil(words, 0);
}

/** Returns the codes and the names of parameters in an error body. */
export function errorCodes(body: unknown): readonly string[] {
  const { param } = errorIn(body);
  return [...readError(body).codes, ...(typeof param === "string" ? [param] : [])];
}

/** Returns every code-like field of an error body, and its message. */
function readError(body: unknown): { readonly codes: readonly string[]; readonly message: string } {
  const error = errorIn(body);
  const details = isObject(error.details) ? Object.values(error.details) : [];
  const listed = Array.isArray(error.details) ? error.details.flatMap(violations) : [];
  const found = [error.type, error.code, error.status, error.reason, ...details, ...listed];
  return {
    codes: found.filter((value) => typeof value === "string"),
    message: typeof error.message === "string" ? error.message : typeof body === "string" ? body : "",
  };
}

/** Reads quota names from Google's details: `{"violations": [{"quotaId": "…PerDay…"}]}`, `{"reason": "…"}`. */
function violations(detail: unknown): readonly unknown[] {
  if (!isObject(detail)) return [];
  const list = Array.isArray(detail.violations) ? detail.violations : [];
  return [detail.reason, ...list.flatMap((each) => isObject(each) ? [each.quotaId, each.quotaMetric] : [])];
}

/** Finds the error object, which APIs nest at different depths. */
function errorIn(body: unknown): Readonly<Record<string, unknown>> {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return {};
  if (isObject(first.error)) return first.error;
  if (isObject(first.response) && isObject(first.response.error)) return first.response.error;
  return first;
}

/** Returns `name: value` of retry-after and rate limit headers, sorted. */
export function limitDetails(
  headers: Headers | null,
  tell: { readonly wait: boolean; readonly limits: boolean },
): readonly string[] {
  return [...headers ?? []]
    .filter(([name]) =>
      name === "retry-after" ? tell.wait || tell.limits : tell.limits && name.includes("ratelimit")
    )
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
}
