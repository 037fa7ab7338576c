// Checks that several APIs make of a request.

/** Names of tools as all these APIs take them. */
export function isToolName(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value);
}

/** The first name that stands twice, or null. */
export function repeated(names: readonly unknown[]): string | null {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : String(twice);
}

/** Whether a text is base64 with the right padding. */
export function isBase64(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length % 4 === 0 &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(value);
}

/** Whether a text is the JSON of an object. */
export function isObjectText(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    const decoded: unknown = JSON.parse(value);
    return typeof decoded === "object" && decoded !== null && !Array.isArray(decoded);
  } catch {
    return false;
  }
}
