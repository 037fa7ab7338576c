// Where a provider is reached: a setting, a variable, or its own address.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Provider } from "../types.ts";

/** The address as it was given, without blanks around it; a blank setting or variable counts as none. */
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
      `"${text}" from ${origin} is no http or https address.`,
      `Give ${origin} a full address such as ${provider.defaultBaseUrl}.`,
    );
  }
  return success(text);
}

/** Host and port of an address, as messages name them; of what is no address, all of it. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}

/**
 * The address of a method of an API, such as `/v1/messages`, below a base URL. People give the base with and without
 * a slash, the version or the whole path, so whatever of `path` the base ends with already is not repeated. A query
 * of the base stays behind the path, where gateways look for it.
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
