// HTTP requests about batches: a key that goes only to the provider's own origin, and errors as problems.

import type { Environment } from "../../base/environment.ts";
import { isObject } from "../../base/is_object.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { parseExactly } from "../../base/text/exact_json.ts";
import { openNetwork } from "../../providers/http/network.ts";
import { transportError } from "../../providers/http/transport_error.ts";
import type { Provider } from "../../providers/types.ts";

/** Milliseconds after which a request about a batch fails. Uploads of 200 MB need long. */
const TIMEOUT = 600_000;

/** Attempts of a request that changes nothing. */
const ATTEMPTS = 4;

/** Pages of a list that are read at most. */
const MOST_PAGES = 20;

export interface ClientOptions {
  readonly environment: Environment;
  readonly provider: Pick<Provider, "readError" | "display">;
  /** URL of a single request, which determines the origin. */
  readonly url: string;
  /** Headers with the key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
  /** Waits so many milliseconds between two attempts. */
  readonly pause?: (milliseconds: number) => Promise<void>;
}

/** Asks a provider about batches. */
export class BatchClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Makes a request that changes nothing; tries again if the provider cannot answer. */
  async get(url: string): Promise<Outcome<unknown, RefusedProblem>> {
    const answer = await this.lines(url);
    if (!answer.ok) return answer;
    return await decoded(answer.value);
  }

  /** Returns the response with a list of results, one per line. */
  async lines(url: string): Promise<Outcome<Response, RefusedProblem>> {
    const { pause = wait, signal } = this.#options;
    for (let attempt = 1;; attempt++) {
      const answer = await this.#once(url, { method: "GET", body: null, headers: {} });
      if (answer.ok) return answer;
      const { problem, isUnclear, status } = answer.problem;
      if (!isUnclear || attempt === ATTEMPTS || signal?.aborted === true) {
        return { ok: false, problem: { ...problem, ...(status === undefined ? {} : { status }) } };
      }
      await pause(1000 * 2 ** attempt);
    }
  }

  /**
   * Returns the rows of a list that comes in pages.
   *
   * @param url returns the URL of a page; `after` is null for the first one
   * @param page returns the rows of a page, and what identifies the next one; null if it is the last
   */
  async pages(
    url: (after: string | null) => string,
    page: (body: unknown) => { readonly rows: readonly unknown[]; readonly after: string | null },
  ): Promise<Outcome<PagedRows>> {
    const rows: unknown[] = [];
    let after: string | null = null;
    for (let count = 0; count < MOST_PAGES; count++) {
      const listed: Outcome<unknown> = await this.get(url(after));
      if (!listed.ok) return listed;
      const read = page(listed.value);
      rows.push(...read.rows);
      if (read.after === null || read.after === after) return success({ rows, isWhole: true });
      after = read.after;
    }
    return success({ rows, isWhole: false });
  }

  /**
   * Makes a request that changes something, once. `isUnclear` of the failure is true if the provider may have carried it
   * out all the same.
   */
  async post(
    url: string,
    body: BodyInit | null,
    headers: Readonly<Record<string, string>> = {},
    method = "POST",
  ): Promise<Outcome<unknown, UnclearProblem>> {
    const answer = await this.#once(url, { method, body, headers });
    if (!answer.ok) {
      const { status } = answer.problem;
      return status === 429 ? { ok: false, problem: { ...answer.problem, isUnclear: false } } : answer;
    }
    const value = await decoded(answer.value);
    return value.ok ? value : { ok: false, problem: { problem: value.problem, isUnclear: true } };
  }

  async #once(
    url: string,
    { method, body, headers }: {
      readonly method: string;
      readonly body: BodyInit | null;
      readonly headers: Readonly<Record<string, string>>;
    },
  ): Promise<Outcome<Response, UnclearProblem>> {
    const { environment, provider, signal, fetch: own } = this.#options;
    const host = new URL(this.#options.url).origin;
    if (new URL(url).origin !== host) {
      const message = `${provider.display} names another server (${
        new URL(url).origin
      }); the key is not sent there.`;
      return unsent({ code: "provider-error", message });
    }
    const network = own === undefined ? await openNetwork(url, environment) : success(null);
    if (!network.ok) return unsent(network.problem);
    const limit = AbortSignal.timeout(TIMEOUT);
    try {
      const response = await (own ?? network.value!.fetch)(url, {
        method,
        headers: { ...this.#options.headers, ...headers },
        body,
        redirect: "manual",
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      if (response.status < 300) return success(response);
      const text = await response.text();
      const error = provider.readError(parsed(text), response.headers, response.status);
      const isUnclear = response.status >= 500 || response.status === 429;
      return { ok: false, problem: { problem: error, isUnclear, status: response.status } };
    } catch (thrown) {
      const problem = transportError(thrown, { request: { url }, proxy: network.value?.proxy ?? null });
      return { ok: false, problem: { problem, isUnclear: true } };
    }
  }
}

/** A problem, with the status of the response; absent without a response. */
export type RefusedProblem = Problem & { readonly status?: number };

/** The rows of a list. */
export interface PagedRows {
  readonly rows: readonly unknown[];
  /** False if the list has more pages than were read. */
  readonly isWhole: boolean;
}

/** A failed request, and whether the provider may have carried it out. */
export interface UnclearProblem {
  readonly problem: Problem;
  readonly isUnclear: boolean;
  /** Status of the response; absent without a response. */
  readonly status?: number;
}

function unsent(problem: Problem): { readonly ok: false; readonly problem: UnclearProblem } {
  return { ok: false, problem: { problem, isUnclear: false } };
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

async function decoded(response: Response): Promise<Outcome<unknown>> {
  try {
    return success(parseExactly(await response.text()));
  } catch (thrown) {
    return failure("provider-error", `The response about the batch is not JSON: ${thrownText(thrown)}.`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the member of an object as text; empty for anything else. */
export function textIn(value: unknown, name: string): string {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === "string" ? member : "";
}

/** Returns the member of an object as a list; empty for anything else. */
export function listIn(value: unknown, name: string): readonly unknown[] {
  const member = isObject(value) ? value[name] : undefined;
  return Array.isArray(member) ? member : [];
}
