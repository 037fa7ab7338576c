// The headers of a request that depend on settings: the one with the key, and the person's own.

import type { ProviderSettings, Settings } from "../../config/settings.generated.ts";

/** How a request carries its key. */
export type AuthStyle = NonNullable<ProviderSettings["auth"]>;

/**
 * Returns the header with the key, which is missing if the key is empty, and the headers of `providers.NAME.headers`.
 *
 * @param usual how the key is sent if the settings do not say
 */
export function entryHeaders(
  settings: Pick<Settings, "providers"> | undefined,
  provider: string,
  { key, usual }: { readonly key: string; readonly usual: AuthStyle },
): Readonly<Record<string, string>> {
  const { auth, headers } = settings?.providers[provider] ?? {};
  const style = auth ?? usual;
  const own = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...Object.fromEntries(own),
    ...(key === "" ? {} : style === "bearer" ? { "authorization": `Bearer ${key}` } : { [style]: key }),
  };
}
