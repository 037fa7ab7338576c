// Parsing of Google's errors: `{error: {message, status, details}}`, possibly in an array.

import { isObject, textOrEmpty } from "../../base/is_object.ts";
import { answeredError, providerError } from "../http/errors.ts";
import { listOrEmpty } from "../stream/fields.ts";
import type { ProviderError } from "../types.ts";

/** Creates the error for a body; `keyHint` is shown if the key is refused. */
export function readGoogleError(
  body: unknown,
  headers: Headers | null,
  status: number | undefined,
  keyHint: string,
): ProviderError {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(first) ? first.error : undefined;
  if (!isObject(error) || typeof error.message !== "string") {
    return answeredError(body, headers, status, { authentication: keyHint });
  }
  const state = textOrEmpty(error.status);
  const violations = listOrEmpty(error.details).filter(isObject)
    .flatMap((detail) => listOrEmpty(detail.fieldViolations)).filter(isObject)
    .map((violation) => textOrEmpty(violation.description)).filter((line) => line !== "");
  const summary = state === "" ? error.message : `${error.message} (Status: ${state})`;
  const message = [summary, ...violations].join("\n");
  const answered = answeredError({ error: { ...error, message, type: undefined } }, headers, status, {
    authentication: keyHint,
  });
  // This API reports a wrong key as an invalid request, not with status 401.
  return REFUSED_KEY.test(message) || reasons(error.details).includes("API_KEY_INVALID")
    ? providerError("authentication", answered.message, { next: keyHint })
    : answered;
}

const REFUSED_KEY = /API key not valid|API key expired|API key not found/i;

function reasons(details: unknown): readonly unknown[] {
  return listOrEmpty(details).filter(isObject).map(({ reason }) => reason);
}
