// Words that stand for values elsewhere, and what to write here. Data.

/** Modes of a sandbox as other agents name them. */
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

/** What to write for a word that stands where `true` or `false` belongs; undefined when it means neither. */
export function switchHint(value: unknown): string | undefined {
  const plain = typeof value === "string" ? value.trim().toLowerCase() : value;
  const meant = plain === 1 || TRUE_WORDS.has(String(plain))
    ? true
    : plain === 0 || FALSE_WORDS.has(String(plain))
    ? false
    : undefined;
  if (meant === undefined || typeof value === "boolean") return undefined;
  return typeof value === "string" ? `"${value}" is a word here; write ${meant}` : `write ${meant}`;
}

/** What to write for a text that stands where a number belongs; undefined when it holds none. */
export function numberHint(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const number = value.trim() === "" ? NaN : Number(value.replaceAll("_", ""));
  return Number.isFinite(number) ? `"${value}" is a text; write ${number}` : undefined;
}

/** A group that a lone `true` or `false` may stand for. */
export function asEnabled(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "boolean" ? { enabled: value } : undefined;
}
