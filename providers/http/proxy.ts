// Selection of the proxy for a URL from environment variables, with the rules of curl.

import { failure, type Outcome, success } from "../../base/problem.ts";

export interface HttpProxy {
  /** URL of the proxy without user name and password. */
  readonly url: string;
  /** Host and port of the proxy, for messages. */
  readonly host: string;
  readonly variable: string;
  readonly credentials?: { readonly username: string; readonly password: string };
}

type Variables = Readonly<Record<string, string>>;

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "socks5:", "socks5h:"]);
const PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "socks5:": 1080,
  "socks5h:": 1080,
};

/**
 * Returns the proxy for a URL: `https_proxy` or `http_proxy` by its scheme, else `all_proxy`, in lower or upper case.
 * Null if none is set or `no_proxy` excludes the host. Fails with `proxy-invalid` for a value that is not a URL.
 */
export function proxyFor(address: string, variables: Variables): Outcome<HttpProxy | null> {
  const url = URL.parse(address);
  if (url === null) return success(null);
  const named = firstOf(variables, url.protocol === "http:" ? "http_proxy" : "https_proxy", "all_proxy");
  if (named === null || withoutProxy(url, firstOf(variables, "no_proxy")?.value ?? "")) return success(null);
  return readProxy(named);
}

export function namesProxy(variables: Variables): boolean {
  return firstOf(variables, "http_proxy", "https_proxy", "all_proxy") !== null;
}

/** True if a `no_proxy` list such as `localhost,.corp.example,10.0.0.0/8,*` contains the host. */
export function withoutProxy(url: URL, list: string): boolean {
  const host = bare(url.hostname);
  const port = portOf(url);
  return list.split(/[\s,]+/).filter((entry) => entry !== "").some((entry) => matches(entry, host, port));
}

function matches(entry: string, host: string, port: number): boolean {
  if (entry === "*") return true;
  const [, name = "", ownPort] = /^(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  if (ownPort !== undefined && Number(ownPort) !== port) return false;
  const wanted = bare(name).replace(/^\*?\./, "");
  if (wanted === "") return false;
  if (wanted.includes("/")) return inRange(host, wanted);
  return host === wanted || (!isAddress(host) && host.endsWith(`.${wanted}`));
}

/** True if an IPv4 address is in a range such as `10.0.0.0/8`. */
function inRange(host: string, range: string): boolean {
  const [start = "", length = ""] = range.split("/");
  const [from, address] = [numberOf(start), numberOf(host)];
  const bits = Number(length);
  if (from === null || address === null || !/^\d+$/.test(length) || bits > 32) return false;
  const size = 2 ** (32 - bits);
  return Math.floor(from / size) === Math.floor(address / size);
}

function numberOf(address: string): number | null {
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return null;
  return parts.reduce((number, part) => number * 256 + Number(part), 0);
}

function isAddress(host: string): boolean {
  return host.includes(":") || numberOf(host) !== null;
}

function bare(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
}

interface Named {
  readonly variable: string;
  readonly value: string;
}

/**
 * Returns the first variable that is set. Of each name, tries the lower-case form first, as curl does, and then the
 * upper-case form.
 */
function firstOf(variables: Variables, ...names: readonly string[]): Named | null {
  for (const variable of names.flatMap((name) => [name, name.toUpperCase()])) {
    const value = variables[variable]?.trim() ?? "";
    if (value !== "") return { variable, value };
  }
  return null;
}

function readProxy({ variable, value }: Named): Outcome<HttpProxy> {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
  if (url === null || !SCHEMES.has(url.protocol) || url.hostname === "") {
    // The message omits the value, because it may hold a password.
    return failure(
      "proxy-invalid",
      `The variable ${variable} is not a proxy address.`,
      `Set it to an address such as http://proxy.example:3128, or unset it.`,
    );
  }
  const host = `${url.hostname}:${portOf(url)}`;
  const credentials = url.username === "" && url.password === ""
    ? {}
    : { credentials: { username: decoded(url.username), password: decoded(url.password) } };
  return success({ url: `${url.protocol}//${host}`, host, variable, ...credentials });
}

/** Returns the port of a URL, or the default port of its scheme. */
export function portOf(url: URL): number {
  return Number(url.port) || (PORTS[url.protocol] ?? 443);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A text with an invalid percent escape, such as a password with a percent sign, is taken literally.
    return text;
  }
}
