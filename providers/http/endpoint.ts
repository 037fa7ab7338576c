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
  const unstated = text === "" ? "" : /\{(\w*)\}/.exec(text)?.[1];
  if (unstated !== undefined) return incomplete(provider.name, text, unstated);
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

/** Fails for a provider without an address, or with an address that has a part for the person to fill in. */
function incomplete(name: string, text: string, part: string): Outcome<never> {
  const key = `providers.${name}.base_url`;
  return part === ""
    ? failure(
      "base-url-missing",
      `The provider ${name} has no address.`,
      `Set ${key} to the base URL of its API.`,
    )
    : failure(
      "base-url-incomplete",
      `The address of the provider ${name} contains your ${part}, which flemma does not know.`,
      `Set ${key} to ${text}, with your own ${part}.`,
    );
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

/** Matches the end of a base URL that is the complete address of an API method. */
const WHOLE = /\/(?:chat\/completions|messages|responses)$/;

/**
 * Returns the URL of a provider's list of models. A base URL with a version of its own keeps that version; a complete
 * address of an API method leads to the list next to it.
 */
export function listUrl(baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, "").replace(WHOLE, "");
  const hasVersion = url.pathname.split("/").some((step) => /^v\d/i.test(step));
  return endpointUrl(url.href, hasVersion ? path.slice(path.indexOf("/", 1)) : path);
}
