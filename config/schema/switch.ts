// A group that a lone `true` or `false` may stand for.

export function asEnabled(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "boolean" ? { enabled: value } : undefined;
}
