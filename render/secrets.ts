// Secrets of known shapes in a text, for texts that are given away. What has no known shape is not found.

/** A secret that was masked. */
export interface Masked {
  /** What it was, for a person. */
  readonly name: string;
  /** Where it stood in the text, in UTF-16 units. */
  readonly at: number;
}

/** A way to tell a secret: `hides` says which group of the expression it is, the whole where that is left out. */
interface Shape {
  readonly name: string;
  readonly pattern: RegExp;
  readonly hides?: string;
}

/** What ends a private key may be cut off; then everything goes that could be of it. */
const PRIVATE_KEY: Shape = {
  name: "private key",
  // Another beginning is never passed over, or a text full of beginnings would be read again for each of them.
  pattern: new RegExp(
    "-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----" +
      "(?:(?:(?!-----BEGIN)[^]){0,20000}?-----END [A-Z0-9 ]{0,40}-----|[A-Za-z0-9+/=\\s\\\\]{0,20000})",
  ),
};

/** Prefixes that makers gave their keys so that they are found, by what to call such a key. */
const PREFIXED: Readonly<Record<string, RegExp>> = {
  "Anthropic key": /\bsk-ant-[\w-]{16,}/,
  "OpenRouter key": /\bsk-or-[\w-]{16,}/,
  "OpenAI key": /\bsk-(?=[A-Za-z_-]{0,99}[0-9])[\w-]{20,}/,
  "Google key": /\bAIza[\w-]{30,}/,
  "Google token": /\bya29\.[\w-]{20,}/,
  "Google client secret": /\bGOCSPX-[\w-]{20,}/,
  "GitHub token": /\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}/,
  "GitLab token": /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[\w.-]{20,}/,
  "AWS key id": /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  "Slack token": /\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}/,
  "Slack address": /https:\/\/hooks\.slack\.com\/(?:services|workflows)\/[\w/-]{20,}/,
  "Discord address": /https:\/\/discord(?:app)?\.com\/api\/webhooks\/[0-9]+\/[\w-]{20,}/,
  "Stripe key": /\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{20,}/,
  "npm token": /\bnpm_[A-Za-z0-9]{30,}/,
  "PyPI token": /\bpypi-[\w-]{40,}/,
  "Hugging Face token": /\bhf_[A-Za-z0-9]{30,}/,
  "Groq key": /\bgsk_[A-Za-z0-9]{40,}/,
  "xAI key": /\bxai-[A-Za-z0-9]{40,}/,
  "SendGrid key": /\bSG\.[\w-]{16,}\.[\w-]{16,}/,
  "DigitalOcean token": /\bdo[opr]_v1_[a-f0-9]{60,}/,
  "Databricks token": /\bdapi[a-f0-9]{32}\b/,
  "Shopify token": /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b/,
  "Telegram token": /\b[0-9]{8,10}:AA[\w-]{33}\b/,
  "age key": /\bAGE-SECRET-KEY-1[A-Z0-9]{50,}/,
  "Vault token": /\bhv[sbr]\.[\w-]{24,}/,
  "signed token": /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
};

/** A character of a value that stands behind a name. */
const VALUE = "[A-Za-z0-9+/_.~=!@#%^&*-]";

/** The few forms in which a secret stands by its name. */
const NAMED: readonly Shape[] = [
  {
    name: "password in an address",
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>]{0,200}:(?<address>[^\s/@"'<>]{1,200})@(?=[^\s/])/,
    hides: "address",
  },
  {
    name: "authorization",
    pattern:
      /\b[Aa]uthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:Bearer|Basic|Token|bearer|basic|token)\s{1,4})?(?<header>[A-Za-z0-9+/_.~=-]{12,})/,
    hides: "header",
  },
  { name: "bearer token", pattern: /\bBearer\s{1,4}(?<bearer>[A-Za-z0-9+/_.~=-]{20,})/, hides: "bearer" },
  {
    name: "value of a variable for secrets",
    pattern: new RegExp(
      "(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|_PASS|CREDENTIALS?|[sS]ecret|[pP]assword|passwd|[aA](?:pi|ccess)_?[kK]ey|" +
        "[aA]uth_?[tT]oken|[aA]ccess_?[tT]oken|[rR]efresh_?[tT]oken)[\"']?\\s{0,4}[:=]\\s{0,4}[\"']?" +
        `(?<value>(?=${VALUE}{0,199}[0-9])(?=${VALUE}{0,199}[A-Za-z])${VALUE}{10,})`,
    ),
    hides: "value",
  },
];

/** A row costs one branch of one expression; the order counts where two could begin at the same place. */
const SHAPES: readonly Shape[] = [
  PRIVATE_KEY,
  ...Object.entries(PREFIXED).map(([name, pattern]) => ({ name, pattern })),
  ...NAMED,
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
      pattern: new RegExp(value.replace(/[\\^$.|?+()[\]{}*/-]/g, "\\$&")),
    })),
    ...SHAPES,
  ];
  const pattern = new RegExp(rows.map((row, at) => `(?<s${at}>${row.pattern.source})`).join("|"), "g");
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
