// Words used for values in other programs, with their equivalents in flemma.

/** Sandbox modes of other agents. */
export const SANDBOX_MODES: Readonly<Record<string, string>> = {
  "read-only": "{ policy: { rw_paths: [] } }",
  "workspace-write": "true",
  "danger-full-access": "false",
  "strict": "{ backend: required }",
  "required": "{ backend: required }",
  "auto": "{ backend: auto }",
  "bwrap": "{ backend: bwrap }",
  "bubblewrap": "{ backend: bwrap }",
  "docker": "true",
};

const TRUE_WORDS: ReadonlySet<string> = new Set(["on", "yes", "y", "true", "enable", "enabled", "always"]);
const FALSE_WORDS: ReadonlySet<string> = new Set([
  "off",
  "no",
  "n",
  "none",
  "false",
  "disable",
  "disabled",
  "never",
]);

/** Suggests `true` or `false` for a word used in its place; undefined if the word means neither. */
export function switchHint(value: unknown): string | undefined {
  const plain = typeof value === "string" ? value.trim().toLowerCase() : value;
  const meant = plain === 1 || TRUE_WORDS.has(String(plain))
    ? true
    : plain === 0 || FALSE_WORDS.has(String(plain))
    ? false
    : undefined;
  if (meant === undefined || typeof value === "boolean") return undefined;
  return typeof value === "string" ? `"${value}" is a string here; write ${meant}` : `write ${meant}`;
}

/** Suggests a number for a text used in its place; undefined if the text does not contain a number. */
export function numberHint(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const number = value.trim() === "" ? NaN : Number(value.replaceAll("_", ""));
  return Number.isFinite(number) ? `"${value}" is a string; write ${number}` : undefined;
}

/** Expands a lone `true` or `false` to a group with `enabled`. */
export function asEnabled(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "boolean" ? { enabled: value } : undefined;
}
