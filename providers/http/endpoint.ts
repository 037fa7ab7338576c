// The base URL of a provider: from a setting, an environment variable, or built in.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Provider } from "../types.ts";

/**
 * Returns the configured URL without blanks around it. A blank setting or variable is treated as unset. Fails with
 * `base-url-invalid`.
 */
export function resolveBaseUrl(
  provider: Pick<Provider, "name" | "defaultBaseUrl" | "regionalBaseUrl">,
  settings: Settings,
  environment: Environment,
): Outcome<string> {
  const setting = settings.providers[provider.name]?.base_url?.trim();
  const variable = `FLEMMA_${provider.name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_BASE_URL`;
  const value = environment.variables[variable]?.trim();
  const [text, origin] = setting
    ? [setting, `the setting providers.${provider.name}.base_url`]
    : value
    ? [value, `the variable ${variable}`]
    : [provider.regionalBaseUrl?.(settings) ?? provider.defaultBaseUrl, "the built-in address"];
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:") || url.hash !== "") {
    return failure(
      "base-url-invalid",
      `"${text}" from ${origin} is not an http or https address.`,
      `Set ${origin} to a full address such as ${provider.defaultBaseUrl}.`,
    );
  }
  return success(text);
}

/** Returns host and port of a URL for messages, or the whole text if it is not a URL. */
export function urlHost(url: string): string {
  return URL.parse(url)?.host ?? url;
}

/**
 * Returns the URL of an API method such as `/v1/messages` below a base URL. In settings, the base URL may end in a
 * slash, in the version, or in the full path. So the beginning of `path` is left out if the base already ends with it.
 * The query of the base stays, because gateways need it.
 */
export function endpointUrl(baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  const steps = path.split("/").slice(1);
  let base = url.pathname.replace(/\/+$/, "");
  for (let count = steps.length; count > 0; count--) {
    const end = `/${steps.slice(0, count).join("/")}`;
    if (!base.endsWith(end)) continue;
    base = base.slice(0, -end.length);
    break;
  }
  url.pathname = `${base}${path}`;
  return url.href;
}
