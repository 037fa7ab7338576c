// Whether a refused request may succeed later, and when: from the status, the codes of the body and the headers.

import { isObject } from "../../base/is_object.ts";
import type { ProviderError } from "../types.ts";

/** An answer that is no reply. */
export interface Refusal {
  /** Decoded JSON, or text. */
  readonly body: unknown;
  readonly headers: Headers | null;
  /** Undefined for an error that came inside of a stream. */
  readonly status: number | undefined;
}

/** Troubles of the server, of what stands before it, and of gateways that could not reach it. */
const TROUBLE: ReadonlySet<number> = new Set([500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);

/** The same in the words of error bodies, which is all that an error inside of a stream has. */
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

/** A balance or a limit that a person set: waiting changes nothing, and asking again may cost. */
const SPENT =
  /spend_limit|insufficient_quota|quota_exceeded|exceeded_current_quota|credit_balance|billing|per_?day/i;
const SPENT_WORDS = /spend(?:ing)? limit|specified API usage limits|credit balance|insufficient balance/i;

/** Whether a body says that money or a limit that a person set is used up. */
export function isSpent(body: unknown): boolean {
  const { codes, message } = readError(body);
  return codes.some((code) => SPENT.test(code)) || SPENT_WORDS.test(message);
}

/** Whether the same request may succeed later; undefined when it will not. */
export function temporary({ body, headers, status }: Refusal): ProviderError["retry"] {
  const says = headers?.get("x-should-retry");
  if (says === "false" || isSpent(body)) return undefined;
  const { codes } = readError(body);
  const after = waitIn(headers) ?? delayIn(body);
  if (status === undefined || status < 400) {
    const known = codes.some((code) => TROUBLE_CODES.has(code.toLowerCase()));
    const limited = after !== null && codes.some((code) => /^rate_limit|^resource_exhausted$/i.test(code));
    return known || limited ? { after } : undefined;
  }
  if (TROUBLE.has(status)) return { after };
  if (status !== 429) return undefined;
  // Without a time, only a word that is about the rate alone tells it from a limit that somebody has to raise.
  const aboutRate = says === "true" || codes.some((code) => TROUBLE_CODES.has(code.toLowerCase()));
  return after !== null || aboutRate ? { after } : undefined;
}

/** The seconds to wait that headers name; null when they name none. `now` is in milliseconds. */
export function waitIn(headers: Headers | null, now: number = Date.now()): number | null {
  const exact = headers?.get("retry-after-ms")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(exact)) return Number(exact) / 1000;
  const value = headers?.get("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value);
  // The other form is a date, which begins with the name of a day.
  const date = /^[A-Za-z]{3}/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

/** Google names the wait in the details of the body: `{"@type": "….RetryInfo", "retryDelay": "14s"}`. */
function delayIn(body: unknown): number | null {
  const { details } = errorIn(body);
  if (!Array.isArray(details)) return null;
  for (const detail of details) {
    if (!isObject(detail) || typeof detail.retryDelay !== "string") continue;
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(detail.retryDelay)?.[1];
    if (seconds !== undefined) return Number(seconds);
  }
  return null;
}

/** Everything in an error body that works like a code, and its sentence. */
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

/** What Google's details call the limit: `{"violations": [{"quotaId": "…PerDay…"}]}`, `{"reason": "…"}`. */
function violations(detail: unknown): readonly unknown[] {
  if (!isObject(detail)) return [];
  const list = Array.isArray(detail.violations) ? detail.violations : [];
  return [detail.reason, ...list.flatMap((each) => isObject(each) ? [each.quotaId, each.quotaMetric] : [])];
}

/** The member that tells what went wrong, however deep the API puts it. */
function errorIn(body: unknown): Readonly<Record<string, unknown>> {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return {};
  if (isObject(first.error)) return first.error;
  if (isObject(first.response) && isObject(first.response.error)) return first.response.error;
  return first;
}

/** `name: value` of the headers that tell when to come back, and of those that tell of limits; sorted. */
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
