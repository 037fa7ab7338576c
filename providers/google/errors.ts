// Google's errors: `{error: {message, status, details}}`, in a list or not.

import { isObject } from "../../base/is_object.ts";
import { answeredError, providerError } from "../http/errors.ts";
import { list, text } from "../stream/fields.ts";
import type { ProviderError } from "../types.ts";

/** The error that a body stands for; `keyHint` is said where the key is refused. */
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
  const state = text(error.status);
  const violations = list(error.details).filter(isObject)
    .flatMap((detail) => list(detail.fieldViolations)).filter(isObject)
    .map((violation) => text(violation.description)).filter((line) => line !== "");
  const stated = state === "" ? error.message : `${error.message} (Status: ${state})`;
  const message = [stated, ...violations].join("\n");
  const answered = answeredError({ error: { ...error, message, type: undefined } }, headers, status, {
    authentication: keyHint,
  });
  // A key that is wrong is a fault of the request to this API, not a 401.
  return REFUSED_KEY.test(message) || reasons(error.details).includes("API_KEY_INVALID")
    ? providerError("authentication", answered.message, { next: keyHint })
    : answered;
}

const REFUSED_KEY = /API key not valid|API key expired|API key not found/i;

function reasons(details: unknown): readonly unknown[] {
  return list(details).filter(isObject).map(({ reason }) => reason);
}
