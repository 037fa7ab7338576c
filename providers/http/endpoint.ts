// Where a provider is reached: a setting, a variable, or its own address (cli section 8).

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.ts";
import type { Provider } from "../types.ts";

/** The base URL without a slash at its end. */
export function resolveBaseUrl(
  provider: Pick<Provider, "name" | "defaultBaseUrl">,
  settings: Settings,
  environment: Environment,
): Outcome<string> {
  const setting = settings.providers[provider.name]?.base_url;
  const variable = `FLEMMA_${provider.name.toUpperCase()}_BASE_URL`;
  const [text, origin] = setting
    ? [setting, `the setting providers.${provider.name}.base_url`]
    : environment.variables[variable]
    ? [environment.variables[variable], `the variable ${variable}`]
    : [provider.defaultBaseUrl, "the built-in address"];
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return failure(
      "base-url-invalid",
      `"${text}" from ${origin} is no http or https address.`,
      `Give ${origin} a full address such as ${provider.defaultBaseUrl}.`,
    );
  }
  return success(text.replace(/\/+$/, ""));
}
