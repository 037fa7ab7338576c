// Names who decided about a call in words for people, because resolvers are identified by URNs.

/** Words that complete "approved by", "denied by" or "will run". */
const WORDS: Readonly<Record<string, string>> = {
  "config": "your settings",
  "frontmatter": "the frontmatter",
  "hooks": "a hook",
  "rules": "a rule",
  "approve-rules": "--approve",
  "unfinished": "an unfinished reply",
  "sandbox": "the sandbox",
  "catch-all": "tools.require_approval: false",
  "watched-file": "a watched file",
  "unconfirmed": "not confirmed by you",
  "trust": "not trusted by you",
};

/**
 * Returns words for a built-in resolver that say what it is; returns the name of any other resolver.
 *
 * @param byRule whether a rule decided
 */
export function decidedBy(source: string, byRule = false): string {
  if (byRule) return "a rule";
  const [, own] = /^urn:flemma:approval:(.+)$/.exec(source) ?? [];
  return own === undefined ? source : WORDS[own] ?? own;
}
