// Who decides about a call, in the words people use for it: resolvers are known by URNs, which nobody should have to read.

/** What follows "approved by", "denied by" or "will run". */
const WORDS: Readonly<Record<string, string>> = {
  "config": "your settings",
  "frontmatter": "the first block",
  "approve-rules": "--approve",
  "sandbox": "the sandbox",
  "catch-all": "tools.require_approval: false",
  "watched-file": "a watched file",
  "unconfirmed": "not confirmed by you",
  "trust": "not agreed to by you",
};

/** A resolver of this program by what it stands for, any other by its name. */
export function decidedBy(source: string): string {
  const [, own] = /^urn:flemma:approval:(.+)$/.exec(source) ?? [];
  return own === undefined ? source : WORDS[own] ?? own;
}
