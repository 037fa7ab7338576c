// Where a Chat Completions server is asked: people give its base with and without the version, or the whole address.

const METHOD = "/chat/completions";

/**
 * The address for a base URL. A base without any version gets `/v1`; a whole address stays as it is. A query stays
 * behind the path, where gateways look for it.
 */
export function chatUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  const base = url.pathname.replace(/\/+$/, "");
  if (base.endsWith(METHOD)) url.pathname = base;
  else if (base.split("/").some((step) => /^v\d/i.test(step))) url.pathname = `${base}${METHOD}`;
  else url.pathname = `${base}/v1${METHOD}`;
  return url.href;
}
