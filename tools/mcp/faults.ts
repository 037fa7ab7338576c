// Explains server failures, from the client's errors and the server's standard error.

import { isObject } from "../../base/is_object.ts";
import { hideSecrets } from "../../base/text/secrets.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { operands, shellWord } from "../../base/shell_word.ts";
import type { McpServer } from "../../config/settings.generated.ts";

/** A failure, and what to do about it. */
export interface McpFault {
  /** The failure, as a sentence. */
  readonly why: string;
  readonly next?: string;
}

/** Circumstances of a failure. */
export interface FaultPlace {
  readonly name: string;
  readonly server: McpServer;
  /** The end of the server's standard error. */
  readonly stderr?: string;
  /** Reason why this program ended the connection; the error of the client says only that the connection is closed. */
  readonly broke?: string;
  /** Reason why the sandbox was not set up, so that the program never ran. */
  readonly setupFailure?: Problem | null;
  /** True if the server runs in the sandbox. */
  readonly confined: boolean;
}

/** Maximum bytes of one message; a larger one could fill the memory. */
export const LONGEST_MESSAGE: number = 16 * 1024 * 1024;

/** Error for a message that is too long. */
export const TOO_LONG = `it sent a message larger than ${LONGEST_MESSAGE / 1024 / 1024} MiB`;

/** Maximum number of characters quoted from a server. */
const MOST_WORDS = 300;

export function faultOf(thrown: unknown, place: FaultPlace): McpFault {
  const { setupFailure } = place;
  if (setupFailure) return { why: hideSecrets(setupFailure.message), next: setupFailure.next };
  const words = cut(
    withoutSecrets(place.broke ?? wholeText(thrown), place.server).replace(/\s+/g, " ").trim(),
  );
  const stderr = cut((place.stderr ?? "").trim().split("\n").slice(-3).join(" ").trim());
  const why = `${words.replace(/\.$/, "")}.${
    stderr === "" ? "" : ` Its error output: ${stderr.replace(/\.$/, "")}.`
  }`;
  const next = words.includes(TOO_LONG)
    ? "Request less at a time: a part, a page or a smaller image."
    : place.server.url
    ? httpAdvice(statusOf(thrown), words, place)
    : pipeAdvice(`${words}\n${place.stderr ?? ""}`, place);
  return { why: hideSecrets(why), next };
}

/** HTTP status with which a server refused a request; null if there was none. */
export function statusOf(thrown: unknown): number | null {
  for (let at = thrown; at instanceof Error; at = at.cause) {
    const { data } = at as { readonly data?: unknown };
    if (isObject(data) && typeof data.status === "number") return data.status;
  }
  return null;
}

/** Text of an error with its innermost cause and the server's response, since a failed request alone says nothing. */
function wholeText(thrown: unknown): string {
  let inner = thrown;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const text = [thrown, inner].map(thrownText).reduce(joinWords);
  const { data } = (thrown ?? {}) as { readonly data?: unknown };
  return isObject(data) && typeof data.text === "string" && data.text !== ""
    ? joinWords(text, data.text)
    : text;
}

function joinWords(text: string, more: string): string {
  return text.includes(more) ? text : `${text.replace(/\.$/, "")}: ${more}`;
}

function httpAdvice(status: number | null, words: string, { name }: FaultPlace): string | undefined {
  const key = `mcp.servers.${name}`;
  if (status === 401 || status === 403) {
    return `Set a valid token in ${key}.headers, or remove it there and run: flemma auth mcp ${
      operands(name)
    }`;
  }
  if (/Redirect to/.test(words)) return `If the server has moved there, set ${key}.url to that address.`;
  if (status === 404 || status === 405) {
    return `Check the path in ${key}.url. The older HTTP+SSE transport is not supported.`;
  }
  if (/Unexpected content type/.test(words)) {
    return `Check ${key}.url: the server there is not an MCP server.`;
  }
  if (/Connection refused|ECONNREFUSED|ENOTFOUND|dns error|failed to lookup/i.test(words)) {
    return `Check that the server is running and that ${key}.url is correct.`;
  }
  return undefined;
}

/** Patterns in a program's messages that show that the sandbox blocked it, and the setting that allows only this. */
const SANDBOX_FAULTS: readonly (readonly [RegExp, string])[] = [
  [
    /EROFS|read-only file ?system/i,
    "It tries to write where the sandbox does not allow it. To allow a folder, add it to sandbox.policy.rw_paths.",
  ],
  [
    /docker daemon|\.sock\b|connect (?:ENOENT|ECONNREFUSED|EACCES) \/|ENOTSOCK/i,
    "It needs a socket that the sandbox hides. To allow it, add it to sandbox.policy.sockets.",
  ],
  [
    /EAI_AGAIN|ENETUNREACH|getaddrinfo|network is unreachable/i,
    "The sandbox may block its network access. To allow it, change sandbox.policy.network.",
  ],
];

function pipeAdvice(words: string, { name, server, confined }: FaultPlace): string {
  const found = confined ? SANDBOX_FAULTS.find(([pattern]) => pattern.test(words)) : undefined;
  if (found !== undefined) {
    return `${
      found[1]
    } If you trust the server with all your rights, you can set mcp.servers.${name}.sandbox to false instead.`;
  }
  const command = [server.command ?? "", ...server.args ?? []].map(shellWord).join(" ");
  return `Try its command in a terminal: ${cut(confined ? `flemma sandbox run -- ${command}` : command)}`;
}

/** Removes the query of the server's URL, which may contain a key. */
function withoutSecrets(words: string, { url }: McpServer): string {
  if (!url || !URL.canParse(url)) return words;
  const { origin, pathname } = new URL(url);
  return words.replaceAll(url, `${origin}${pathname}`).replaceAll(new URL(url).href, `${origin}${pathname}`);
}

function cut(words: string): string {
  return words.length <= MOST_WORDS ? words : `${words.slice(0, MOST_WORDS)}…`;
}
