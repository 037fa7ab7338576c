// Which addresses a sign-in may use: those that nobody on the way can read or change.

/** True if only this machine can answer at an address. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/**
 * True if a sign-in at an MCP server may use an address: https, or this machine if the MCP server is on it too. Another
 * server must not make this program send requests to this machine.
 */
export function maySignInAt(address: string | URL, server: string | URL): boolean {
  const [url, base] = [URL.parse(String(address)), URL.parse(String(server))];
  if (url === null || base === null) return false;
  if (url.username !== "" || url.password !== "") return false;
  if (isLoopback(url)) return isLoopback(base) && /^https?:$/.test(url.protocol);
  return url.protocol === "https:";
}

/** Wraps requests of a sign-in: refuses an address that it may not use, and redirects to another origin. */
export function signInFetch(
  inner: typeof fetch,
  server: string,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    if (!maySignInAt(url, server)) {
      const { origin } = new URL(url);
      throw new Error(`the address ${origin} is not https, or is on this machine`);
    }
    return await inner(url, { ...init, redirect: "manual" });
  };
}
