// One-line settings: `PROVIDER MODEL key=value …`, and the types of values written as text (providers 16).

import { failure, type Outcome, success } from "../../base/problem.ts";

/** Words of a line split at blanks; quotes keep text together and make it text. */
interface Word {
  readonly name: string | null;
  readonly value: unknown;
}

/** Reads `PROVIDER MODEL key=value …`: both names must be there and nothing else without `=`. */
export function readModeline(
  line: string,
): Outcome<{ provider: string; model: string; parameters?: Record<string, unknown> }> {
  const words = splitWords(line);
  if (!words.ok) return words;
  const positional = words.value.filter((word) => word.name === null).map((word) => String(word.value));
  if (positional.length !== 2) {
    return failure(
      "modeline",
      `it needs a provider and a model, and has ${positional.length} words without "="`,
    );
  }
  const parameters = Object.fromEntries(
    words.value.flatMap(({ name, value }) => (name === null ? [] : [[name, value]])),
  );
  return success({
    provider: positional[0]!,
    model: positional[1]!,
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
  });
}

/**
 * The value of `key=value` text: `true`, `false` and numbers are what they say, `nil`, `null` and nothing clear
 * (`null`), commas make a list, quotes keep text.
 */
export function typedValue(text: string): unknown {
  const quoted = /^"((?:[^"\\]|\\.)*)"$|^'([^']*)'$/s.exec(text);
  if (quoted) return quoted[2] ?? quoted[1]!.replace(/\\(.)/gs, "$1");
  if (text.includes(",")) return text.split(",").map((item) => typedValue(item.trim()));
  if (text === "" || text === "nil" || text === "null") return null;
  if (text === "true" || text === "false") return text === "true";
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

function splitWords(line: string): Outcome<readonly Word[]> {
  const words: Word[] = [];
  const pattern = /\s*((?:[^\s"'=]+)=)?((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])*)/gsy;
  const end = line.trimEnd().length;
  while (pattern.lastIndex < end) {
    const from = pattern.lastIndex;
    const match = pattern.exec(line);
    if (match === null || pattern.lastIndex === from) return failure("modeline", "a quote is not closed");
    words.push({
      name: match[1] === undefined ? null : match[1].slice(0, -1),
      value: match[1] === undefined && !/^["']/.test(match[2]!) ? match[2]! : typedValue(match[2]!),
    });
  }
  return success(words);
}
