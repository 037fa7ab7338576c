// The URL of a Chat Completions server. People give its base with or without the version, or the whole URL.

const METHOD = "/chat/completions";

/**
 * Returns the URL for a base URL. A base without version gets `/v1`; a whole URL stays as it is. The query stays,
 * because gateways look for it.
 */
export function chatUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  const base = url.pathname.replace(/\/+$/, "");
  if (base.endsWith(METHOD)) url.pathname = base;
  else if (base.split("/").some((step) => /^v\d/i.test(step))) url.pathname = `${base}${METHOD}`;
  else url.pathname = `${base}/v1${METHOD}`;
  return url.href;
}
