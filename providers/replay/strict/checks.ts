// Checks of a request that several APIs share.

/** True if all these APIs accept the tool name. */
export function isToolName(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value);
}

/** Returns the first duplicate name, or null. */
export function findRepeated(names: readonly unknown[]): string | null {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : String(twice);
}

/** True if a text is base64 with correct padding. */
export function isBase64(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length % 4 === 0 &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(value);
}

export function isObjectText(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    const decoded: unknown = JSON.parse(value);
    return typeof decoded === "object" && decoded !== null && !Array.isArray(decoded);
  } catch {
    return false;
  }
}
