// Masking of secrets with known formats, for texts that are published. Secrets of unknown format are not found.

export interface Masked {
  readonly name: string;
  /** Position in the text, in UTF-16 units. */
  readonly at: number;
}

/** A pattern for secrets; `hides` names the group with the secret, if it is not the whole match. */
interface Shape {
  readonly name: string;
  readonly pattern: RegExp;
  readonly hides?: string;
}

/** The end of a private key may be missing. Then everything that could belong to the key is masked. */
const PRIVATE_KEY: Shape = {
  name: "private key",
  // The pattern stops at another BEGIN line. Otherwise a text full of such lines would be scanned again for each one.
  pattern: new RegExp(
    "-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----" +
      "(?:(?:(?!-----BEGIN)[^]){0,20000}?-----END [A-Z0-9 ]{0,40}-----|[A-Za-z0-9+/=\\s\\\\]{0,20000})",
  ),
};

/** Patterns for keys with a vendor's prefix, by display name. */
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
  "Slack webhook URL": /https:\/\/hooks\.slack\.com\/(?:services|workflows)\/[\w/-]{20,}/,
  "Discord webhook URL": /https:\/\/discord(?:app)?\.com\/api\/webhooks\/[0-9]+\/[\w-]{20,}/,
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

/** Character class of a value after a name. */
const VALUE = "[A-Za-z0-9+/_.~=!@#%^&*-]";

/** Patterns for secrets recognized by a name next to them. */
const NAMED: readonly Shape[] = [
  {
    name: "password in a URL",
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
    name: "value of a secret variable",
    pattern: new RegExp(
      "(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|_PASS|CREDENTIALS?|[sS]ecret|[pP]assword|passwd|[aA](?:pi|ccess)_?[kK]ey|" +
        "[aA]uth_?[tT]oken|[aA]ccess_?[tT]oken|[rR]efresh_?[tT]oken)[\"']?\\s{0,4}[:=]\\s{0,4}[\"']?" +
        `(?<value>(?=${VALUE}{0,199}[0-9])(?=${VALUE}{0,199}[A-Za-z])${VALUE}{10,})`,
    ),
    hides: "value",
  },
];

/** Each entry is one branch of one expression; the order matters where two could match at the same position. */
const SHAPES: readonly Shape[] = [
  PRIVATE_KEY,
  ...Object.entries(PREFIXED).map(([name, pattern]) => ({ name, pattern })),
  ...NAMED,
];

const MASK = "[masked]";

/** Minimum length of a value of the person's own variables that is masked; shorter values may be ordinary words. */
const SHORTEST_VALUE = 12;

export interface SecretMask {
  /** Replaces each secret in the text with `[masked]`; calls `found` for each. */
  mask(text: string, found?: (masked: Masked) => unknown): string;
}

/**
 * Creates a mask for secrets of known formats and for the exact values in `own`, keyed by the name to report.
 *
 * @param own known secret values, such as those of the person's variables
 */
export function secretMask(own: Readonly<Record<string, string>> = {}): SecretMask {
  const values = Object.entries(own).filter(([, value]) => value.length >= SHORTEST_VALUE);
  const rows = [
    // Longer values come first, because a shorter value may be the prefix of a longer one.
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
        // The secret is the last occurrence in the match, after the name or address.
        const from = match.index + match[0].lastIndexOf(secret);
        found({ name, at: from });
        out += text.slice(reached, from) + MASK;
        reached = from + secret.length;
      }
      return reached === 0 ? text : out + text.slice(reached);
    },
  };
}
