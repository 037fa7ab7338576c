// Provider errors as values, with a class and a hint.

import { isObject, own } from "../../base/is_object.ts";
import { hideSecrets, hideSecretsIn } from "../../base/text/secrets.ts";
import type { ErrorClass, ProviderError } from "../types.ts";
import { errorCodes, isSpent, limitDetails, temporary } from "./temporary.ts";

export interface ErrorText {
  readonly type: string | null;
  readonly message: string;
}

/** Returns the message of a decoded error body in one of the known shapes; null for another shape. */
export function extractError(body: unknown): ErrorText | null {
  if (!isObject(body)) return null;
  const { error, message, errors } = body;
  if (isObject(error) && typeof error.message === "string") {
    return { type: typeof error.type === "string" ? error.type : null, message: error.message };
  }
  if (typeof error === "string") return { type: null, message: error };
  if (typeof message === "string") return { type: null, message };
  const first: unknown = Array.isArray(errors) ? errors[0] : null;
  return isObject(first) && typeof first.message === "string" ? { type: null, message: first.message } : null;
}

function errorSentence(text: ErrorText): string {
  return text.type === null ? text.message : `${text.type} — ${text.message}`;
}

const OVERFLOW: readonly RegExp[] = [
  /prompt is too long/i,
  /exceeds the context window/i,
  /maximum context length/i,
  /input token count[^]*exceeds the maximum|exceeds the maximum[^]*input token count/i,
  /context[ _]length[ _]exceeded/i,
  /too many tokens/i,
  /token limit exceeded/i,
];

const RATE_LIMIT = /rate[ _]limit|resource[ _]exhausted|too many requests|quota exceeded|overloaded/i;
const AUTHENTICATION = /^(?:authentication_error|permission_error)\b/;

const NEXT: Readonly<Partial<Record<ErrorClass, string>>> = {
  context_overflow: "Continue in a smaller document: flemma compact FILE",
  rate_limit: "Try again later.",
  network: "Check the connection.",
  timeout: "Raise the parameter timeout if the model needs longer.",
};

/** Classes of error codes, which are the same in any language. */
const CODES: Readonly<Record<string, ErrorClass>> = {
  context_length_exceeded: "context_overflow",
  exceed_context_size_error: "context_overflow",
  prompt_too_long: "context_overflow",
  invalid_api_key: "authentication",
  authentication_error: "authentication",
  permission_error: "authentication",
  invalid_authentication_error: "authentication",
  rate_limit_error: "rate_limit",
  rate_limit_exceeded: "rate_limit",
  ramp_limit_exceeded: "rate_limit",
  overloaded_error: "rate_limit",
  resource_exhausted: "rate_limit",
  // An account on hold has nothing to do with its key.
  organization_on_hold: "other",
};

/** Classifies an error response by its codes first, then by its words, then by its HTTP status. */
export function classifyError(sentence: string, status?: number, codes: readonly string[] = []): ErrorClass {
  const byCode = codes.map((code) => own(CODES, code.toLowerCase())).findLast((known) => known !== undefined);
  if (byCode !== undefined) return byCode;
  if (OVERFLOW.some((pattern) => pattern.test(sentence))) return "context_overflow";
  if (AUTHENTICATION.test(sentence) || status === 401 || status === 403) return "authentication";
  if (RATE_LIMIT.test(sentence) || status === 429 || status === 529) return "rate_limit";
  if (status === 408 || status === 504) return "timeout";
  return "other";
}

export interface ErrorOptions {
  readonly details?: readonly string[];
  readonly next?: string;
  readonly retry?: ProviderError["retry"];
  readonly codes?: readonly string[];
}

/** Creates an error with the hint of its class. */
export function providerError(
  errorClass: ErrorClass,
  message: string,
  options: ErrorOptions = {},
): ProviderError {
  const next = options.next ?? NEXT[errorClass];
  return {
    code: `provider-${errorClass.replaceAll("_", "-")}`,
    // A server may quote the key or the request.
    message: hideSecrets(message),
    ...(next === undefined ? {} : { next }),
    class: errorClass,
    details: hideSecretsIn(options.details ?? []),
    ...(options.retry === undefined ? {} : { retry: options.retry }),
    ...(options.codes === undefined || options.codes.length === 0 ? {} : { codes: options.codes }),
  };
}

/**
 * Creates the error for an error response. A temporary error carries the headers that say when to retry, and is marked
 * as retryable.
 */
export function answeredError(
  body: unknown,
  headers: Headers | null,
  status: number | undefined,
  hints: Readonly<Partial<Record<ErrorClass, string>>> = {},
): ProviderError {
  const known = extractError(body);
  const sentence = known !== null ? errorSentence(known) : unknownAnswer(body, status);
  const codes = errorCodes(body);
  const errorClass = classifyError(sentence, status, codes);
  const retry = errorClass === "context_overflow" ? undefined : temporary({ body, headers, status });
  return providerError(errorClass, sentence, {
    details: limitDetails(headers, { wait: retry !== undefined, limits: errorClass === "rate_limit" }),
    codes,
    next: hints[errorClass] ??
      (codes.includes("organization_on_hold")
        ? onHold(body)
        : isSpent(body) || status === 402
        ? "Retrying does not help: raise the limit, or add credit to the account."
        : status === 413
        ? TOO_LARGE
        : status === 404 && known !== null
        ? NOT_FOUND
        : retry === undefined
        ? (typeof body === "string" && body.trim() !== "" ? NOT_THE_API : undefined)
        : "Try again later."),
    retry,
  });
}

/** Hint for an account that its provider has put on hold; the error may name where to appeal. */
function onHold(body: unknown): string {
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const url = isObject(error.details) ? error.details.appeal_url : undefined;
  const place = typeof url === "string" && /^https:\/\//.test(url) ? `: ${url}` : " with the provider.";
  return `The account is on hold, so its requests fail. Appeal${place}`;
}

const TOO_LARGE = "The request is larger than the provider accepts: attach fewer or smaller files.";

/** Hint for a model or path that does not exist, or a model to which the account has no access. */
const NOT_FOUND = notFoundAt("");

function notFoundAt(provider: string): string {
  const list = `flemma models list ${provider}`.trimEnd();
  return `Check the model name (${list}). If you set a base URL, check also the URL, its region and the deployment.`;
}

/** Returns the error with the name of its provider in the hint about a model that does not exist. */
export function withProviderName<Of extends ProviderError>(error: Of, provider: string): Of {
  return error.next === NOT_FOUND ? { ...error, next: notFoundAt(provider) } : error;
}

/** Hint for answers in HTML or plain text, which come from servers other than the API. */
const NOT_THE_API =
  "The response is not from the API: check the base URL, and any proxy or gateway on the way.";

function unknownAnswer(body: unknown, status: number | undefined): string {
  const bodyText = typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body);
  const prefix = status === undefined ? "" : `HTTP ${status}: `;
  if (bodyText.trim() === "") return `${prefix}The provider answered with an empty body.`;
  return typeof body === "string" || status !== undefined
    ? `${prefix}${unexpectedBody(bodyText)}`
    : "Unknown API error";
}

/** Returns the first 300 bytes of an unexpected body, such as an HTML page, on one line. */
export function unexpectedBody(body: string): string {
  const bytes = new TextEncoder().encode(body);
  const start = new TextDecoder().decode(bytes.subarray(0, 300));
  const cut = bytes.length > 300 ? `${start}...` : start;
  return `Unexpected API response: ${cut.replace(/\s+/g, " ").trim()}`;
}
