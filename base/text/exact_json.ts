// Decodes JSON with whole numbers of any length.

/** The part of a newer `JSON` object that keeps the spelling of a number. */
interface RawJson {
  rawJSON?(text: string): unknown;
}

/**
 * Decodes JSON. Instead of a whole number that would be rounded, the value has an object that `JSON.stringify` prints
 * with the same digits.
 *
 * @throws SyntaxError if the text is not JSON, or if the runtime can only round such a number
 */
export function parseExactly(text: string): unknown {
  return /\d{16}/.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
}

function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  const { rawJSON } = JSON as RawJson;
  if (source === undefined || rawJSON === undefined) {
    throw new SyntaxError("this runtime would round a number in it");
  }
  return rawJSON(source);
}
