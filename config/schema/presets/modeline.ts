// One-line settings `PROVIDER MODEL key=value …`, and the types of values written as text.

import { failure, type Outcome, success } from "../../../base/problem.ts";

/** A word of a line split at spaces; quotes keep text together and make it a string. */
interface Word {
  readonly name: string | null;
  readonly value: unknown;
}

/** Parses `PROVIDER MODEL key=value …`; both names are required, everything else needs `=`. */
export function readModeline(
  line: string,
): Outcome<{ provider: string; model: string; parameters?: Record<string, unknown> }> {
  const words = splitWords(line);
  if (!words.ok) return words;
  const positional = words.value.filter((word) => word.name === null).map((word) => String(word.value));
  if (positional.length !== 2) {
    return failure(
      "modeline",
      `it needs a provider and a model, but has ${positional.length} words without "="`,
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
 * Converts the text of `key=value`: `true`, `false` and numbers become such values, `nil`, `null` and empty text become
 * `null`, commas make a list, quotes and brackets keep text together, and a complete JSON object or array is parsed.
 */
export function typedValue(text: string): unknown {
  const quoted = /^"((?:[^"\\]|\\.)*)"$|^'([^']*)'$/s.exec(text);
  if (quoted) return quoted[2] ?? quoted[1]!.replace(/\\(.)/gs, "$1");
  const json = /^\s*[[{]/.test(text) ? jsonValue(text) : undefined;
  if (json !== undefined) return json;
  const items = itemsOf(text);
  if (items.length > 1) return items.map((item) => typedValue(item.trim()));
  if (text === "" || text === "nil" || text === "null") return null;
  if (text === "true" || text === "false") return text === "true";
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The value is ordinary text that begins with a bracket.
    return undefined;
  }
}

const CLOSES: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Splits a text at commas outside quotes and brackets. */
function itemsOf(text: string): readonly string[] {
  const commas: { readonly at: number; readonly inside: boolean }[] = [];
  const open: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === ",") commas.push({ at, inside: open.length > 0 });
    else if (character === '"' || character === "'") at = endOfQuote(text, at);
    else if ("([{".includes(character)) open.push(character);
    else if (CLOSES[character] !== undefined && open.at(-1) === CLOSES[character]) open.pop();
  }
  // Unclosed brackets do not keep text together.
  const cuts = commas.filter(({ inside }) => open.length > 0 || !inside).map(({ at }) => at);
  return [...cuts, text.length].map((to, index) => text.slice(index === 0 ? 0 : cuts[index - 1]! + 1, to));
}

/** Returns the offset at which the quote opened here is closed; `at` itself for an apostrophe or an unclosed quote. */
function endOfQuote(text: string, at: number): number {
  const quote = text[at]!;
  if (/[\w)]/.test(text[at - 1] ?? "")) return at;
  for (let end = at + 1; end < text.length; end++) {
    if (quote === '"' && text[end] === "\\") end += 1;
    else if (text[end] === quote) return end;
  }
  return at;
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
