// Explains why a passage or name that looks the same is not found: the difference is often invisible. Pure.

/** A kind of difference: how to ignore it, and how to describe it. */
interface Difference {
  readonly fold: (text: string) => string;
  readonly words: string;
}

/**
 * Kinds of differences, from the smallest to the largest. When a kind is ignored, all smaller kinds are ignored, too.
 */
const DIFFERENCES: readonly Difference[] = [
  {
    fold: (text) => text.replace(/\r\n?/g, "\n"),
    words: "with different line endings (CRLF or CR instead of LF, or the reverse)",
  },
  {
    fold: (text) => text.normalize("NFC"),
    words: "with accents encoded differently (é as e and U+0301, or the reverse)",
  },
  {
    fold: (text) =>
      text.replace(/[\t\u00a0\u2000-\u200b\u202f\u3000\ufeff ]+/g, " ").replace(/ (?=\n|$)/g, ""),
    words: "with different whitespace (tabs, no-break spaces, repeated or trailing spaces)",
  },
  {
    fold: (text) =>
      text.replace(/[‘’‚′]/g, "'").replace(/[“”„″]/g, '"').replace(/[‐‑‒–—−]/g, "-").replace(/…/g, "..."),
    words: "with typographic quotes, dashes or dots instead of plain ones, or the reverse",
  },
];

/**
 * A passage that differs from the wanted one only in ways that are easily overlooked, and a description of the
 * differences.
 */
export interface NearPassage {
  /** 1-based line in which it begins. */
  readonly line: number;
  readonly words: string;
}

/** Returns the passage of `text` that matches `wanted` except for these differences; null if there is none. */
export function nearPassage(text: string, wanted: string): NearPassage | null {
  let content = text;
  let passage = wanted;
  for (const { fold, words } of DIFFERENCES) {
    content = fold(content);
    passage = fold(passage);
    const at = passage.trim() === "" ? -1 : content.indexOf(passage);
    if (at >= 0) return { line: content.slice(0, at).split("\n").length, words };
  }
  return null;
}

/** Returns a name in `names` that looks like `wanted` but differs, and how it differs; null if there is none. */
export function nearName(names: Iterable<string>, wanted: string): { name: string; words: string } | null {
  const folds: readonly (readonly [string, (name: string) => string])[] = [
    ["with accents encoded differently", (name) => name.normalize("NFC")],
    ["with different case", (name) => name.normalize("NFC").toLowerCase()],
    [
      "with different whitespace",
      (name) => name.normalize("NFC").toLowerCase().replace(/[\s\u200b\ufeff]+/g, " ").trim(),
    ],
  ];
  const all = [...names];
  for (const [words, fold] of folds) {
    const name = all.find((each) => each !== wanted && fold(each) === fold(wanted));
    if (name !== undefined) return { name, words };
  }
  return null;
}
