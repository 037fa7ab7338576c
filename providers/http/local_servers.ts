// Search for model servers on this machine, for a person without any key.

import type { Environment } from "../../base/environment.ts";
import { isObject } from "../../base/is_object.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { ownProvider } from "../known.ts";
import { readList } from "../models/listing.ts";
import { VENDORS } from "../vendors.ts";
import { resolveBaseUrl } from "./endpoint.ts";
import { openNetwork } from "./network.ts";
import { portOf } from "./proxy.ts";

/** A server on this machine that answered with a list of models. */
export interface LocalServer {
  /** The provider's name in the settings. */
  readonly provider: string;
  readonly display: string;
  /** The listed models that can reply; may be empty. */
  readonly models: readonly string[];
}

/** Milliseconds for all servers together. A server on this machine lists its models within a few. */
const LIMIT = 400;

/** The longest list in bytes that is read. */
const LONGEST = 1_000_000;

/**
 * Asks the vendors' servers on this machine for their models, all at the same time. Only 127.0.0.1 is asked, never
 * through a proxy, and the request has no key and nothing else of the person's. Servers at other addresses are skipped.
 */
export async function findLocalServers(
  settings: Settings,
  environment: Environment,
  { limit = LIMIT }: { readonly limit?: number } = {},
): Promise<readonly LocalServer[]> {
  const signal = AbortSignal.timeout(limit);
  const asked = Object.entries(VENDORS).filter(([, { isLocal }]) => isLocal === true).map(
    async ([provider, { display }]): Promise<readonly LocalServer[]> => {
      const port = localPort(provider, settings, environment);
      const names = port === null ? null : await listedModels(port, environment, signal);
      return names === null ? [] : [{ provider, display, models: names.filter(canReply) }];
    },
  );
  return (await Promise.all(asked)).flat();
}

/** Returns the port of a provider's server on this machine; null if the settings name a server elsewhere. */
function localPort(name: string, settings: Settings, environment: Environment): number | null {
  const base = resolveBaseUrl(ownProvider(name, settings.providers[name]), settings, environment);
  const url = base.ok ? URL.parse(base.value) : null;
  const isLocal = url?.protocol === "http:" && ["localhost", "127.0.0.1"].includes(url.hostname);
  return isLocal ? portOf(url) : null;
}

/** Returns the names in a server's list of models; null if none answers with such a list. */
async function listedModels(
  port: number,
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const url = `http://127.0.0.1:${port}/v1/models`;
  const variables = { ...environment.variables, no_proxy: "*" };
  const network = await openNetwork(url, { ...environment, variables });
  if (!network.ok) return null;
  try {
    const response = await network.value.fetch(url, { signal, redirect: "manual" });
    const text = await textOf(response);
    return response.ok && text !== null ? namesIn(JSON.parse(text)) : null;
  } catch {
    // There is no server, it is too slow, or it answers something else, such as a page.
    return null;
  } finally {
    network.value.close();
  }
}

function namesIn(list: unknown): readonly string[] | null {
  // Ollama without models answers like this.
  if (isObject(list) && list.object === "list" && list.data === null) return [];
  const listed = readList(list);
  return listed === null ? null : Object.keys(listed);
}

/** Reads the body of a response; null if it is too long. */
async function textOf({ body }: Response): Promise<string | null> {
  let text = "";
  if (body === null) return text;
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.length > LONGEST) return null;
  }
  return text;
}

/** True for a name that can be typed, of a model that is not only for embeddings. */
function canReply(name: string): boolean {
  return /^[\x21-\x7e]{1,200}$/.test(name) && !/embed|rerank/i.test(name);
}
