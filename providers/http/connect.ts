// Whether a host takes connections, asked beside a request: `fetch` does not tell when its own connection stands.

/**
 * Settles once it is known whether the host of an address can be connected to: true when it took a connection, which
 * is closed at once; false when that cannot be told or the signal aborted. Never rejects.
 */
export async function reachable(url: string, signal: AbortSignal): Promise<boolean> {
  const parsed = URL.parse(url);
  if (parsed === null || signal.aborted) return false;
  const hostname = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(parsed.port) || (parsed.protocol === "http:" ? 80 : 443);
  try {
    const connection = await Deno.connect({ hostname, port, signal });
    connection.close();
    return true;
  } catch {
    // Refused, not resolved, not permitted: the request meets the same and has the words for it.
    return false;
  }
}

/** Whether requests to an address may go through a proxy, where a connection of our own would prove nothing. */
export function mayUseProxy(variables: Readonly<Record<string, string>>): boolean {
  return ["http_proxy", "https_proxy", "all_proxy"].some((name) =>
    Boolean(variables[name]) || Boolean(variables[name.toUpperCase()])
  );
}
