// Recognizes environment variables that hold credentials, by the words in their names and by their values.

import { learnSecret } from "../../base/text/secrets.ts";
import { VENDOR_KEYS } from "../../config/data/vendors.generated.ts";

/**
 * Variables that the credential resolvers of the built-in providers read, by service. Their values never reach a tool
 * unless `tools.env.pass` names them.
 */
export const PROVIDER_CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  gemini: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  moonshot: ["MOONSHOT_API_KEY"],
  openai_chat: ["OPENAI_CHAT_API_KEY"],
  vertex: ["VERTEX_ACCESS_TOKEN", "VERTEX_AI_ACCESS_TOKEN", "VERTEX_SERVICE_ACCOUNT"],
};

/** Upper-case names of credential variables without any of the words below. Add a line if a name is missing. */
export const OTHER_CREDENTIALS: readonly string[] = [
  "ANTHROPIC_CUSTOM_HEADERS",
  "AZURE_DEVOPS_EXT_PAT",
  "DENO_AUTH_TOKENS",
  "GH_PAT",
  "GITHUB_PAT",
  "MYSQL_PWD",
  "NPM_CONFIG__AUTH",
  "REDISCLI_AUTH",
  "SSHPASS",
];

/** Upper-case names with one of the words, but without a secret; `*` matches anything. */
export const HARMLESS_NAMES: readonly string[] = [
  "COREPACK_INTEGRITY_KEYS",
  // Git stops if one of these is missing.
  "GIT_CONFIG_KEY_*",
  "PASSWORD_STORE_*",
];

/** Addresses of proxies stay, because without them commands have no network. Their passwords stay too. */
export const PROXY_NAMES: readonly string[] = ["ALL_PROXY", "FTP_PROXY", "HTTPS_PROXY", "HTTP_PROXY"];

const PROVIDER_KEYS: ReadonlySet<string> = new Set([
  ...Object.values(PROVIDER_CREDENTIALS).flat(),
  ...Object.values(VENDOR_KEYS).flat(),
]);
const EXACT: ReadonlySet<string> = new Set([
  ...PROVIDER_KEYS,
  ...OTHER_CREDENTIALS,
]);
const HARMLESS = HARMLESS_NAMES.map((name) => new RegExp(`^${name.replace("*", ".*")}$`, "s"));

/**
 * Matches names with a word for a secret between underscores. A number may follow, because some people have several
 * keys. The last line matches words that are written together, such as `PGPASSWORD` and `OPENAI_APIKEY`. `TOKENS` counts tokens and is not among them.
 */
const WORD = new RegExp(
  "(?:^|[^A-Z0-9])(?:" +
    "KEYS?|TOKEN|SECRETS?|CREDENTIALS?|PASS|" +
    "[A-Z0-9]*(?:PASSWORDS?|PASSWD|PASSPHRASE)|[A-Z0-9]*(?:API|AUTH|ACCESS|SECRET|PRIVATE|OPENAI)(?:KEYS?|TOKEN)" +
    ")\\d*(?![A-Z0-9])",
);
/** Texts of which every matching name contains one. Most variables contain none of them. This check saves time. */
const PART = /KEY|TOKEN|SECRET|CREDENTIAL|PASS/;

/** True if a built-in provider reads its credential from a variable of this name. Ignores case. */
export function isProviderKey(name: string): boolean {
  return PROVIDER_KEYS.has(name.toUpperCase());
}

/** True if a variable of this name holds a credential. Ignores case. */
export function isCredential(name: string): boolean {
  const upper = name.toUpperCase();
  if (EXACT.has(upper)) return true;
  return PART.test(upper) && WORD.test(upper) && !HARMLESS.some((pattern) => pattern.test(upper));
}

/** Matches a password in a URL, and any text before the host of a web address, which is then a token. */
const URL_CREDENTIALS = /[a-z][a-z0-9+.-]*:\/\/[^\s/?#@:]*:[^\s/?#@]+@|https?:\/\/[^\s/?#@]+@/i;
/** Matches a secret as a parameter of a URL or of a database connection. */
const PARAMETER =
  /(?:^|[?&;])\s*[\w-]*(?:password|pwd|secret|token|api_?key|accountkey|accesskey|sig)\s*=[^&;\s]/i;

/** True if the value of a variable is an address with credentials. */
export function isAddressWithCredentials(name: string, value: string): boolean {
  if (PROXY_NAMES.includes(name.toUpperCase())) return false;
  return (value.includes("://") && (URL_CREDENTIALS.test(value) || PARAMETER.test(value))) ||
    (value.includes(";") && PARAMETER.test(value));
}

/**
 * Makes the values of a person's credentials known, so that no result, message or event shows them.
 *
 * @param variables the person's environment
 * @param keys further names of variables with keys
 */
export function learnCredentials(variables: Readonly<Record<string, string>>, keys: readonly string[]): void {
  const own = new Set([...PROVIDER_KEYS, ...keys]);
  for (const [name, value] of Object.entries(variables)) {
    if (own.has(name) || isCredential(name)) learnSecret(name, value, { isKey: own.has(name) });
    else if (isAddressWithCredentials(name, value)) {
      learnSecret(name, value);
      if (URL.canParse(value)) learnSecret(`password in ${name}`, new URL(value).password);
    }
  }
}
