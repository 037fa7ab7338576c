// Connection errors from exceptions of the runtime: Node puts codes in `cause`, Deno puts words in the message.

import { thrownText } from "../../base/problem.ts";
import type { ProviderError } from "../types.ts";
import { CERTIFICATE_VARIABLES } from "./authorities.ts";
import { urlHost } from "./endpoint.ts";
import { type ErrorOptions, providerError } from "./errors.ts";
import type { HttpProxy } from "./proxy.ts";

export interface FailedRequest {
  readonly request: { readonly url: string };
  readonly proxy?: HttpProxy | null;
}

interface Failure {
  /** Names, codes and messages of the whole cause chain. */
  readonly reason: string;
  /** Innermost message of the chain, without a period. */
  readonly why: string;
  readonly host: string;
  readonly url: string;
  readonly proxy: HttpProxy | null;
  /** Host or proxy that was contacted, as the start of a sentence. */
  readonly who: string;
  /** Advice for a wrong host or proxy. */
  readonly advice: string | undefined;
}

/** A pattern for the thrown words, and the error that it means. */
type Kind = readonly [RegExp, (failure: Failure) => ProviderError | null];

/** Retry facts of an error: the provider did not answer, but may do so later. */
const AGAIN: ErrorOptions = { retry: { after: null } };

const KINDS: readonly Kind[] = [
  [
    /invalid string length/i,
    ({ host }) =>
      providerError("other", `${host} sent more than 512 MB in one piece, which is too large.`, {
        next: "Request less at a time.",
      }),
  ],
  [
    /proxy authentication required/i,
    ({ proxy }) =>
      proxy === null ? null : providerError("network", `${named(proxy)} requires a user name and password.`, {
        next: `Put them into ${proxy.variable}: http://NAME:PASSWORD@${proxy.host}`,
      }),
  ],
  [
    /unsuccessful tunnel/i,
    ({ proxy, host, advice }) =>
      proxy === null
        ? null
        : providerError("network", `${named(proxy)} refused to connect to ${host}.`, { next: advice }),
  ],
  [
    /eof while tunneling/i,
    ({ proxy, host }) =>
      proxy === null
        ? null
        : providerError("network", `${named(proxy)} closed the connection to ${host}.`, AGAIN),
  ],
  [/invalid peer certificate/i, ({ reason, host }) => certificateError(reason, host)],
  [/CERT_|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/, ({ why, host }) => certificateError(why, host)],
  [
    /InvalidContentType|wrong version number/i,
    ({ host }) =>
      providerError("network", `${host} does not speak https.`, {
        next: "If the server uses plain http, begin the base URL with http://.",
      }),
  ],
  [/invalid HTTP version/i, ({ host, url }) =>
    providerError("network", `${host} did not answer in HTTP.`, {
      next: url.startsWith("http:")
        ? "Check the base URL; it may need to begin with https://."
        : "Check the base URL.",
    })],
  [
    /ENOTFOUND|EAI_AGAIN|dns error|failed to lookup/i,
    ({ proxy, host, advice }) =>
      providerError(
        "network",
        proxy === null
          ? `The host name ${host} could not be resolved.`
          : `The host name of the proxy ${proxy.host} (from ${proxy.variable}) could not be resolved.`,
        { next: advice },
      ),
  ],
  [
    /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|connection refused|unreachable|are blocked|tcp connect error/i,
    ({ who, why, advice }) =>
      providerError("network", `${who} could not be reached: ${why}.`, { next: advice }),
  ],
  [
    /TimeoutError|ETIMEDOUT|UND_ERR_\w*TIMEOUT|timed out/i,
    ({ host }) => providerError("timeout", `The connection to ${host} timed out.`),
  ],
  [
    /reset|closed|eof|broken pipe|EPIPE|UND_ERR_SOCKET|hang up|incomplete|reading a body|GOAWAY|http2|stream error/i,
    ({ host, why }) => providerError("network", `The connection to ${host} broke: ${why}.`, AGAIN),
  ],
];

export function transportError(thrown: unknown, { request, proxy = null }: FailedRequest): ProviderError {
  const host = urlHost(request.url);
  const failure: Failure = {
    reason: causes(thrown).join(" "),
    why: lastCause(thrown),
    host,
    url: request.url,
    proxy,
    who: proxy === null ? host : named(proxy),
    advice: proxy === null
      ? (isOwn(request.url) ? "Start the server, or correct the base URL." : undefined)
      : `Correct ${proxy.variable}, or add ${hostnameOf(request.url)} to NO_PROXY to bypass the proxy.`,
  };
  for (const [words, say] of KINDS) {
    const error = words.test(failure.reason) ? say(failure) : null;
    if (error !== null) return error;
  }
  return providerError("network", `The request to ${host} failed: ${failure.why}.`);
}

function named({ host, variable }: HttpProxy): string {
  return `The proxy ${host} (from ${variable})`;
}

function isOwn(url: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostnameOf(url));
}

function hostnameOf(url: string): string {
  return URL.parse(url)?.hostname ?? url;
}

/**
 * Returns the error for a rejected certificate. A wrong name, date or authority gives a different message, because each
 * has a different remedy.
 */
function certificateError(reason: string, host: string): ProviderError {
  if (/not valid for name|NotValidForName|ALTNAME/i.test(reason)) {
    return providerError("network", `The certificate of ${host} is for another host name.`, {
      next: "Check the base URL.",
    });
  }
  if (/expired|not valid yet|NotValidYet|NOT_YET_VALID/i.test(reason)) {
    return providerError("network", `The certificate of ${host} has expired or is not valid yet.`, {
      next: "Check the date of this machine. If it is right, the server needs a new certificate.",
    });
  }
  const variables = CERTIFICATE_VARIABLES.join(" or ");
  const why = /peer certificate: (\w+)/.exec(reason)?.[1];
  const end = why === undefined ? "" : ` (${why})`;
  return providerError(
    "network",
    `The certificate of ${host} is not from an authority that this machine trusts${end}.`,
    {
      next:
        `If your network or server uses its own authority, set ${variables} to the path of its certificate (PEM).`,
    },
  );
}

function causes(thrown: unknown): string[] {
  const reason: string[] = [];
  for (let at: unknown = thrown, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    reason.push(at.name, "code" in at ? String(at.code) : "", at.message);
  }
  return reason.length > 0 ? reason : [String(thrown)];
}

/** Returns the innermost message, which is the useful one, without the URL that the error already names. */
function lastCause(thrown: unknown): string {
  let innermost = thrown;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  const words = thrownText(innermost).replace(
    /^error sending request (?:from \S+ )?for (?:url \([^)]*\)|\S+(?: \([^)]*\))?): /,
    "",
  )
    .replace(/^client error \(\w+\): /, "").replace(/^tcp connect error: /, "").replace(
      / \(os error \d+\)$/,
      "",
    );
  return words.replace(/\.+$/, "");
}
