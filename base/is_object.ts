// Objects as JSON has them: whether a value is one, and what one holds under a name that somebody else chose.

/** Whether a value is an object with members: no list, no null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What a table holds under a name that somebody else chose; undefined where it holds nothing of its own. Every object answers to
 * names such as `constructor`.
 */
export function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
