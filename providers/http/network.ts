// The way to a host: directly or through a proxy, with the certificates that a person's variables add, and whether it
// takes connections.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { addedAuthorities, CERTIFICATE_VARIABLES } from "./authorities.ts";
import { namesProxy, portOf, type Proxy, proxyFor } from "./proxy.ts";

/** How requests to one address are made. */
export interface Network {
  readonly fetch: typeof fetch;
  readonly proxy: Proxy | null;
  /** To be called when the last answer was read. */
  close(): void;
}

/**
 * The way to an address as the variables have it. Fails with `proxy-invalid` or `certificates-unreadable`, which name the
 * variable.
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
      `The certificates that your variables name cannot be used: ${thrownText(thrown)}.`,
      `Look at ${CERTIFICATE_VARIABLES.join(", ")}.`,
    );
  }
}

function clientFor(proxy: Proxy | null, caCerts: readonly string[]): Deno.HttpClient {
  const certificates = caCerts.length === 0 ? {} : { caCerts: [...caCerts] };
  if (proxy === null) return withoutVariables(() => Deno.createHttpClient(certificates));
  const { url, credentials } = proxy;
  return Deno.createHttpClient({
    ...certificates,
    proxy: { url, ...(credentials === undefined ? {} : { basicAuth: credentials }) },
  });
}

/**
 * A client of the runtime goes by the variables as they are when it is made, and reads `no_proxy` in a narrower way than
 * curl: `*` does not stand for addresses there, and a port is not understood. So they are put away for that moment.
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
 * Settles once it is known whether the host of an address can be connected to: true when it took a connection, which
 * is closed at once; false when that cannot be told or the signal aborted. Never rejects. `fetch` does not tell when its
 * own connection stands.
 */
export async function reachable(url: string, signal: AbortSignal): Promise<boolean> {
  const parsed = URL.parse(url);
  if (parsed === null || signal.aborted) return false;
  const hostname = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
  try {
    const connection = await Deno.connect({ hostname, port: portOf(parsed), signal });
    connection.close();
    return true;
  } catch {
    // Refused, not resolved, not permitted: the request meets the same and has the words for it.
    return false;
  }
}
