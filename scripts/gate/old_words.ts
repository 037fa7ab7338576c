// Finds words in names, and phrases in prose, that the project has replaced with common terms.

import { ROOMS } from "./layers.ts";

const OLD =
  /^(course|concessions?|concede[ds]?|strangers?|wary|cautious|distrust(s|ed)?|exposure|companions?|walls?|ground|survey|peel(ed)?|desks?|voices?|login|press|deaf|judge[ds]?|judging|judge?ment|verdicts?|told|said|colours?|licences?|categorise|summarise|normalise|behaviour|whoever)$/;

/** Words that no exported name may contain; local names may. */
const OLD_EXPORTED = /^(kept|held|came|standing)$/;

/** Names that keep such a word: members of JSON, a command that people may try, and a member of the journal's lines. */
const PUBLIC: ReadonlySet<string> = new Set(["wall", "login", "login_rules", "exposure"]);

/** Returns old words in the name of a file or in names that its text declares. */
export function oldWordsIn(path: string, text: string): string[] {
  const declared = text.matchAll(
    /^[^"'`*/]*?\b(?:const|let|function|class|interface|type|readonly|get)\s+\*?#?([A-Za-z_]\w*)/gm,
  );
  const hidden = text.matchAll(/^\s+(?:static )?(?:async )?#([A-Za-z_]\w*)/gm);
  const exported = text.matchAll(
    /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
  );
  const oldExported = [...exported].map(([, name]) => name!)
    .filter((name) => wordsOf(name).some((word) => OLD_EXPORTED.test(word)));
  const file = path.slice(path.lastIndexOf("/") + 1).replace(/\.ts$/, "");
  const old = [file, ...[...declared, ...hidden].map(([, name]) => name!)]
    .filter((name) => !PUBLIC.has(name) && wordsOf(name).some((word) => OLD.test(word)));
  return [...new Set([...old, ...oldExported])].map((name) => `${path}: ${name}`);
}

function wordsOf(name: string): string[] {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split("_");
}

/** True if a file belongs to the program, so that the rule applies to its names. */
export function isOfProgram(path: string): boolean {
  return path.split("/")[0]! in ROOMS && path.endsWith(".ts") && !path.endsWith(".generated.ts");
}

/** Phrases that the prose of the project has replaced, each with what to write. */
export const OLD_PHRASES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/(?<!\b[Tt]here )\b(?:is|are|was|were) no\b(?! longer\b| more\b)/, "is not a, has no"],
  [
    /\b(?:is|are|was|were|be|been) told\b|\btold (?:of|that)\b|\btells of\b/,
    "reports, shows, gets a message",
  ],
  [/\bwhoever\b|\bwhatever it is\b/i, "anyone who, any"],
  [/\bg(?:ave|ive|ives|iving) way\b/, "was replaced"],
  [/\bput(?:s|ting)? right\b/, "repair"],
  [/\b(?:stands|stood)\b(?! (?:for|in for|out)\b)/, "is"],
  [/\bso many (?:times|at a time)\b/, "N times, N in parallel"],
  [/\bthe wish\b/, "the request"],
  [/\bbeside\b/, "next to, in addition to"],
  [/\bcomes? to (?:about|more|less|\$|\d)/, "amounts to"],
  [/\bwhat helps\b/, "how to fix it"],
  [/\bas ever\b/, "as always"],
  [/\bin force\b/, "current, effective"],
  [/\bgo(?:es)? by\b/, "uses, follows"],
  [/\b(?:at|in) hand\b/, "cached, available"],
  [/\breckon/, "evaluate"],
  [/\buntil logout\b|\bthis login\b/, "for this session"],
  [/\bfor good\b/, "globally, permanently"],
  [/\bnobody decides\b/, "no rule matches"],
  [/\bta(?:ke|kes|ken) back\b|\bha(?:ve|d) back\b/, "undo, restore, revoke"],
  [/\banew\b/, "again"],
  [/\bfirst blocks?\b/, "frontmatter"],
  [/\bfurther tries\b/, "retries"],
  [/\bgoes? along\b/, "is included"],
];

/** Returns the replaced phrases in a text, each with its surroundings and what to write. */
export function oldPhrasesIn(path: string, text: string): string[] {
  return OLD_PHRASES.flatMap(([pattern, instead]) =>
    [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map(({ index }) => {
      const around = text.slice(Math.max(0, index - 40), index + 50).replaceAll(/\s+/g, " ").trim();
      return `${path}: …${around}… (${instead})`;
    })
  );
}

/** Returns the prose of a module: its comments, and its strings of several words. */
export function proseOf(text: string): string[] {
  const comments = [...text.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^|\s)\/\/ (.*)$/gm)].map(([, block, line]) =>
    (block ?? line!).replaceAll(/\s*\n\s*\*\s?/g, " ")
  );
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$/gm, "");
  const strings = code.matchAll(
    /"((?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)* (?:[^`\\]|\\.)*)`/g,
  );
  return [...comments, ...[...strings].map(([, quoted, template]) => quoted ?? template!)];
}
