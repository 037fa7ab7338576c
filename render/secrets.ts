// Secrets of known shapes in a text, for texts that are given away. What has no known shape is not found.

/** A secret that was masked. */
export interface Masked {
  /** What it was, for a person. */
  readonly name: string;
  /** Where it stood in the text, in UTF-16 units. */
  readonly at: number;
}

/** A way to tell a secret: `hides` says which group of the expression it is, the whole where that is 0. */
interface Shape {
  readonly name: string;
  readonly pattern: string;
  readonly hides?: string;
}

/** A character of a value that stands behind a name. */
const VALUE = "[A-Za-z0-9+/_.~=!@#%^&*-]";

/**
 * Prefixes that makers gave their keys so that they are found, and the few forms in which a secret stands by its name.
 * A row costs one branch of one expression; the order counts where two could begin at the same place.
 */
const SHAPES: readonly Shape[] = [
  {
    name: "private key",
    // What ends it may be cut off; then everything goes that could be of it. Another beginning is never passed over, or
    // a text full of beginnings would be read again for each of them.
    pattern: "-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----" +
      "(?:(?:(?!-----BEGIN)[^]){0,20000}?-----END [A-Z0-9 ]{0,40}-----|[A-Za-z0-9+/=\\s\\\\]{0,20000})",
  },
  { name: "Anthropic key", pattern: "\\bsk-ant-[A-Za-z0-9_-]{16,}" },
  { name: "OpenRouter key", pattern: "\\bsk-or-[A-Za-z0-9_-]{16,}" },
  { name: "OpenAI key", pattern: "\\bsk-(?=[A-Za-z_-]{0,99}[0-9])[A-Za-z0-9_-]{20,}" },
  { name: "Google key", pattern: "\\bAIza[A-Za-z0-9_-]{30,}" },
  { name: "Google token", pattern: "\\bya29\\.[A-Za-z0-9_-]{20,}" },
  { name: "Google client secret", pattern: "\\bGOCSPX-[A-Za-z0-9_-]{20,}" },
  { name: "GitHub token", pattern: "\\bgh[pousr]_[A-Za-z0-9]{30,}|\\bgithub_pat_[A-Za-z0-9_]{30,}" },
  { name: "GitLab token", pattern: "\\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_.-]{20,}" },
  { name: "AWS key id", pattern: "\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b" },
  { name: "Slack token", pattern: "\\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\\bxapp-[A-Za-z0-9-]{10,}" },
  {
    name: "Slack address",
    pattern: "https://hooks\\.slack\\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}",
  },
  {
    name: "Discord address",
    pattern: "https://discord(?:app)?\\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{20,}",
  },
  { name: "Stripe key", pattern: "\\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{20,}" },
  { name: "npm token", pattern: "\\bnpm_[A-Za-z0-9]{30,}" },
  { name: "PyPI token", pattern: "\\bpypi-[A-Za-z0-9_-]{40,}" },
  { name: "Hugging Face token", pattern: "\\bhf_[A-Za-z0-9]{30,}" },
  { name: "Groq key", pattern: "\\bgsk_[A-Za-z0-9]{40,}" },
  { name: "xAI key", pattern: "\\bxai-[A-Za-z0-9]{40,}" },
  { name: "SendGrid key", pattern: "\\bSG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}" },
  { name: "DigitalOcean token", pattern: "\\bdo[opr]_v1_[a-f0-9]{60,}" },
  { name: "Databricks token", pattern: "\\bdapi[a-f0-9]{32}\\b" },
  { name: "Shopify token", pattern: "\\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\\b" },
  { name: "Telegram token", pattern: "\\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\\b" },
  { name: "age key", pattern: "\\bAGE-SECRET-KEY-1[A-Z0-9]{50,}" },
  { name: "Vault token", pattern: "\\bhv[sbr]\\.[A-Za-z0-9_-]{24,}" },
  { name: "signed token", pattern: "\\beyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*" },
  {
    name: "password in an address",
    pattern: "\\b[a-z][a-z0-9+.-]{1,20}://[^\\s:/@\"'<>]{0,200}:(?<address>[^\\s/@\"'<>]{1,200})@(?=[^\\s/])",
    hides: "address",
  },
  {
    name: "authorization",
    pattern:
      "\\b[Aa]uthorization[\"']?\\s{0,4}[:=]\\s{0,4}[\"']?(?:(?:Bearer|Basic|Token|bearer|basic|token)\\s{1,4})?(?<header>[A-Za-z0-9+/_.~=-]{12,})",
    hides: "header",
  },
  { name: "bearer token", pattern: "\\bBearer\\s{1,4}(?<bearer>[A-Za-z0-9+/_.~=-]{20,})", hides: "bearer" },
  {
    name: "value of a variable for secrets",
    pattern:
      "(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|_PASS|CREDENTIALS?|[sS]ecret|[pP]assword|passwd|[aA](?:pi|ccess)_?[kK]ey|" +
      "[aA]uth_?[tT]oken|[aA]ccess_?[tT]oken|[rR]efresh_?[tT]oken)[\"']?\\s{0,4}[:=]\\s{0,4}[\"']?" +
      `(?<value>(?=${VALUE}{0,199}[0-9])(?=${VALUE}{0,199}[A-Za-z])${VALUE}{10,})`,
    hides: "value",
  },
];

/** What stands in the place of a secret. */
const MASK = "[masked]";

/** Shorter values of the person's own variables than these may well be words. */
const SHORTEST_VALUE = 12;

/** Finds and masks secrets. */
export interface SecretMask {
  /** The text with each secret replaced by a word that says so; `found` is told each of them. */
  mask(text: string, found?: (masked: Masked) => unknown): string;
}

/**
 * Masks secrets of known shapes, and the very values in `own`, by the names of what holds them.
 *
 * @param own values that are secret here, such as those of the person's variables
 */
export function secretMask(own: Readonly<Record<string, string>> = {}): SecretMask {
  const values = Object.entries(own).filter(([, value]) => value.length >= SHORTEST_VALUE);
  const rows = [
    // A longer value first: another may be its beginning.
    ...values.sort(([, a], [, b]) => b.length - a.length).map(([name, value]): Shape => ({
      name: `value of ${name}`,
      pattern: value.replace(/[\\^$.|?+()[\]{}*/-]/g, "\\$&"),
    })),
    ...SHAPES,
  ];
  const pattern = new RegExp(rows.map((row, at) => `(?<s${at}>${row.pattern})`).join("|"), "g");
  return {
    mask(text, found = () => {}) {
      let out = "";
      let reached = 0;
      for (const match of text.matchAll(pattern)) {
        const groups = match.groups!;
        const at = rows.findIndex((_, row) => groups[`s${row}`] !== undefined);
        const { name, hides } = rows[at]!;
        const secret = hides === undefined ? match[0] : groups[hides]!;
        // Where a name or an address stands around it, the secret is the last of them.
        const from = match.index + match[0].lastIndexOf(secret);
        found({ name, at: from });
        out += text.slice(reached, from) + MASK;
        reached = from + secret.length;
      }
      return reached === 0 ? text : out + text.slice(reached);
    },
  };
}
