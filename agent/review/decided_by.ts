// Who decides about a call, in the words people use for it: resolvers are known by URNs, which nobody should have to read.

/** What follows "approved by", "denied by" or "will run". */
const WORDS: Readonly<Record<string, string>> = {
  "config": "your settings",
  "frontmatter": "the first block",
  "rules": "a rule",
  "approve-rules": "--approve",
  "unfinished": "an unfinished reply",
  "sandbox": "the sandbox",
  "catch-all": "tools.require_approval: false",
  "watched-file": "a watched file",
  "unconfirmed": "not confirmed by you",
  "trust": "not agreed to by you",
};

/**
 * A resolver of this program by what it stands for, any other by its name.
 *
 * @param byRule whether it went by a rule
 */
export function decidedBy(source: string, byRule = false): string {
  if (byRule) return "a rule";
  const [, own] = /^urn:flemma:approval:(.+)$/.exec(source) ?? [];
  return own === undefined ? source : WORDS[own] ?? own;
}
