// The connection to a host: direct or through a proxy, with added certificates, and a test whether it accepts
// connections.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { addedAuthorities, CERTIFICATE_VARIABLES } from "./authorities.ts";
import { type HttpProxy, namesProxy, portOf, proxyFor } from "./proxy.ts";

export interface Network {
  readonly fetch: typeof fetch;
  readonly proxy: HttpProxy | null;
  /** Closes the connection. Call it after the last response was read. */
  close(): void;
}

/**
 * Sets up proxy and certificates for a URL from the environment variables. Fails with `proxy-invalid` or
 * `certificates-unreadable`, which name the variable.
 */
export async function openNetwork(url: string, environment: Environment): Promise<Outcome<Network>> {
  const proxy = proxyFor(url, environment.variables);
  if (!proxy.ok) return proxy;
  const authorities = url.startsWith("https:") ? await addedAuthorities(environment) : success([]);
  if (!authorities.ok) return authorities;
  const excluded = proxy.value === null && namesProxy(environment.variables);
  if (proxy.value === null && !excluded && authorities.value.length === 0) {
    return success({ fetch, proxy: null, close() {} });
  }
  try {
    const client = clientFor(proxy.value, authorities.value);
    return success({
      fetch: (input, init) => fetch(input, { ...init, client }),
      proxy: proxy.value,
      close: () => client.close(),
    });
  } catch (thrown) {
    return failure(
      "certificates-unreadable",
      `The certificates named by environment variables cannot be used: ${thrownText(thrown)}.`,
      `Check ${CERTIFICATE_VARIABLES.join(", ")}.`,
    );
  }
}

function clientFor(proxy: HttpProxy | null, caCerts: readonly string[]): Deno.HttpClient {
  const certificates = caCerts.length === 0 ? {} : { caCerts: [...caCerts] };
  if (proxy === null) return withoutVariables(() => Deno.createHttpClient(certificates));
  const { url, credentials } = proxy;
  return Deno.createHttpClient({
    ...certificates,
    proxy: { url, ...(credentials === undefined ? {} : { basicAuth: credentials }) },
  });
}

/**
 * Hides the proxy variables while a client is created: Deno reads them at that time, and reads `no_proxy` more narrowly
 * than curl (`*` does not match IP addresses, and ports are not supported).
 */
function withoutVariables<T>(make: () => T): T {
  const names = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const values = names.map((name) => [name, Deno.env.get(name)] as const);
  try {
    for (const [name, value] of values) if (value !== undefined) Deno.env.delete(name);
    return make();
  } finally {
    for (const [name, value] of values) if (value !== undefined) Deno.env.set(name, value);
  }
}

/**
 * Tests whether the host of a URL accepts connections, because `fetch` does not report that its own connection is open.
 * Resolves to true if a connection succeeded; this connection is closed immediately. Resolves to false if the test was
 * inconclusive or aborted. Never rejects.
 */
export async function isReachable(url: string, signal: AbortSignal): Promise<boolean> {
  const parsed = URL.parse(url);
  if (parsed === null || signal.aborted) return false;
  const hostname = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
  try {
    const connection = await Deno.connect({ hostname, port: portOf(parsed), signal });
    connection.close();
    return true;
  } catch {
    // The connection was refused or not permitted, or the name of the host was not resolved. The request itself fails
    // in the same way and reports the error.
    return false;
  }
}
