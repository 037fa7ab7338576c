// Finds words in names that the project has replaced with common terms.

import { ROOMS } from "./layers.ts";

const OLD =
  /^(course|concessions?|concede[ds]?|strangers?|wary|cautious|distrust(s|ed)?|exposure|companions?|walls?|ground|survey|peel(ed)?|desks?|voices?|login|press|deaf|judge[ds]?|judging|judge?ment|verdicts?|told|said|colours?|licences?|categorise|summarise|normalise|behaviour|whoever)$/;

/** Words that no exported name holds; local names may. */
const OLD_EXPORTED = /^(kept|held|came|standing)$/;

/** Names that keep such a word: members of JSON, a command that people may try, and a member of the journal's lines. */
const PUBLIC: ReadonlySet<string> = new Set(["wall", "login", "login_rules", "exposure"]);

/** Old words in the name of a file or in names that its text declares. */
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

/** Whether a file belongs to the program, so that the rule applies to its names. */
export function isOfProgram(path: string): boolean {
  return path.split("/")[0]! in ROOMS && path.endsWith(".ts") && !path.endsWith(".generated.ts");
}
