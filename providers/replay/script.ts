// The replay script: recorded replies, and what each request must contain (docs/reference/replay.md).

import { isObject } from "../../base/is_object.ts";
import { nearest } from "../../base/names.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";

/** Expected text. */
export interface TextExpectation {
  /** One text, or several, each of which must occur. */
  readonly contains?: string | readonly string[];
  /** The exact text that is expected. */
  readonly equals?: string;
}

/** Expected result of a call. */
export interface ResultExpectation extends TextExpectation {
  /** True if the result must be an error. */
  readonly is_error?: boolean;
}

/** What a request must contain before its reply is given. */
export interface Expectation {
  /** Text of the last user message, without results. */
  readonly user?: TextExpectation;
  /** Text of the system prompt. */
  readonly system?: TextExpectation;
  /** Results by call id, anywhere in the request. */
  readonly results?: Readonly<Record<string, ResultExpectation>>;
  /** Names of tools that must be offered, as written in the request. */
  readonly tools?: readonly string[];
}

/** A page that a search found. */
export interface ScriptedPage {
  /** Address of the page. */
  readonly url: string;
  /** Title of the page. */
  readonly title: string;
  /** Content of the page, which only the provider can read. @default none */
  readonly content?: string;
}

/** A search by the provider. */
export interface ScriptedSearch {
  /** Id of the search. @default one that follows from its place */
  readonly id?: string;
  /** What the model searches. */
  readonly query?: string;
  /** The pages that were found. */
  readonly results?: readonly ScriptedPage[];
  /** The API's code of an error, in place of results. */
  readonly error?: string;
}

/** A page that the provider fetched. */
export interface ScriptedFetch {
  /** Id of the fetch. @default one that follows from its place */
  readonly id?: string;
  /** Address that the model asks for. */
  readonly url?: string;
  /** The page that was fetched. */
  readonly page?: ScriptedPage;
  /** The API's code of an error, in place of the page. */
  readonly error?: string;
}

/** A use of a tool that the provider runs. */
export type ScriptedServerTool = { readonly web_search: ScriptedSearch } | {
  readonly web_fetch: ScriptedFetch;
};

/** One block of a scripted reply. */
export type ReplyBlock =
  | {
    readonly text: string;
    /** Pages that the text cites. */
    readonly cites?: readonly ScriptedPage[];
  }
  /**
   * A search or fetch that the provider ran. Without result and error, the result is still to come; without a query or
   * address, it is the result of an earlier use with this id.
   */
  | ScriptedServerTool
  | { readonly thinking: string; readonly signature?: string }
  | { readonly redacted: string }
  | {
    readonly tool_use: {
      readonly id: string;
      readonly name: string;
      readonly input?: unknown;
      readonly input_text?: string;
    };
  };

/** A simulated error. */
export interface Fault {
  /** HTTP status of the response. If set, the response is not a stream. */
  readonly status?: number;
  /** Response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Response body; an object is sent as JSON, a string as it is. */
  readonly body?: unknown;
  /** An error event sent after the blocks, in place of the end. */
  readonly error?: { readonly type: string; readonly message: string };
  /** Number of bytes of the stream after which the connection breaks. */
  readonly cut?: number;
}

/** One reply of a script. */
export interface ScriptedReply {
  /**
   * Name of the helper whose requests get this reply: the one that an earlier reply of the script gave it in a call of
   * `ask_document`. @default the reply is for no helper
   */
  readonly document?: string;
  /** What the request must contain. If anything is missing, the server refuses the request. */
  readonly expect?: Expectation;
  /** The blocks of the reply. */
  readonly reply?: readonly ReplyBlock[];
  /** Stop reason. @default `tool_use` if the reply contains a call, else `end_turn` */
  readonly stop_reason?: string;
  /** The API's details of a refusal: category and explanation. */
  readonly stop_details?: Readonly<Record<string, unknown>>;
  /** Token counts as the API reports them. */
  readonly usage?: Readonly<Record<string, number>>;
  /** Bytes per chunk of the stream. @default one event per chunk */
  readonly chunk?: number;
  /** A simulated error. */
  readonly fault?: Fault;
}

/** A scripted model. */
export interface ReplayScript {
  /** The replies of the model. */
  readonly replies: readonly ScriptedReply[];
  /**
   * With `any`, each request gets the first reply whose expectations it meets; a reply may be given several times.
   *
   * @default each reply once, in their order
   */
  readonly order?: "any";
}

/**
 * Parses a script in YAML or JSON: a list of replies, or an object with the member `replies`.
 *
 * @param text the script
 * @returns the replies. Fails with `replay-script`, which names the first error.
 */
export async function parseReplayScript(text: string): Promise<Outcome<ReplayScript>> {
  const decoded = await decode(text);
  if (!decoded.ok) return decoded;
  const value = decoded.value;
  const { replies, order } = isObject(value) ? value : { replies: value, order: undefined };
  if (!Array.isArray(replies)) {
    return failure(
      "replay-script",
      "A replay script is a list of replies, or an object with the list `replies`.",
    );
  }
  const problems = [
    ...(order === undefined || order === "any" ? [] : ["order: `any` is the only value"]),
    ...replies.flatMap((reply, index) => replyProblems(reply, `replies[${index}]`)),
  ];
  const [first] = problems;
  if (first !== undefined) {
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    return failure(
      "replay-script",
      `The replay script is invalid at ${first}${more}.`,
      "docs/reference/replay.md lists every member.",
    );
  }
  return success(order === "any" ? { replies, order } : { replies });
}

async function decode(text: string): Promise<Outcome<unknown>> {
  try {
    const { parse } = await import("npm:yaml@2.9.1");
    return success(parse(text));
  } catch (thrown) {
    return failure("replay-script", `The replay script is neither YAML nor JSON: ${thrownText(thrown)}`);
  }
}

type Check = (value: unknown, path: string) => readonly string[];

const isText: Check = (value, path) => typeof value === "string" ? [] : [`${path}: must be text`];
const isCount: Check = (value, path) =>
  Number.isInteger(value) && Number(value) >= 0 ? [] : [`${path}: must be a whole number`];
const isBoolean: Check = (value, path) =>
  typeof value === "boolean" ? [] : [`${path}: must be true or false`];
const anything: Check = () => [];

function listOf(check: Check): Check {
  return (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => check(item, `${path}[${index}]`))
      : [`${path}: must be a list`];
}

function tableOf(check: Check): Check {
  return (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, member]) => check(member, `${path}.${key}`))
      : [`${path}: must be an object`];
}

/** Checks an object with known members; those in `needed` are required. */
function members(known: Readonly<Record<string, Check>>, needed: readonly string[] = []): Check {
  return (value, path) => {
    if (!isObject(value)) return [`${path}: must be an object`];
    const missing = needed.filter((key) => !(key in value)).map((key) => `${path}: ${key} is missing`);
    const wrong = Object.entries(value).flatMap(([key, member]) => {
      const check = known[key];
      if (check !== undefined) return check(member, `${path}.${key}`);
      const near = nearest(key, Object.keys(known));
      return [`${path}.${key}: no such member${near === null ? "" : `; did you mean ${near}?`}`];
    });
    return [...missing, ...wrong];
  };
}

const textOrTexts: Check = (value, path) =>
  Array.isArray(value) ? listOf(isText)(value, path) : isText(value, path);
const textExpectation = { contains: textOrTexts, equals: isText };

const expectation = members({
  user: members(textExpectation),
  system: members(textExpectation),
  results: tableOf(members({ ...textExpectation, is_error: isBoolean })),
  tools: listOf(isText),
});

const fault = members({
  status: isCount,
  headers: tableOf(isText),
  body: anything,
  error: members({ type: isText, message: isText }, ["type", "message"]),
  cut: isCount,
});

const toolUse = members({ id: isText, name: isText, input: anything, input_text: isText }, ["id", "name"]);

const page = members({ url: isText, title: isText, content: isText }, ["url", "title"]);
const search = members({ id: isText, query: isText, results: listOf(page), error: isText });
const fetched = members({ id: isText, url: isText, page, error: isText });

const BLOCKS: Readonly<Record<string, Check>> = {
  text: members({ text: isText, cites: listOf(page) }),
  web_search: members({ web_search: search }),
  web_fetch: members({ web_fetch: fetched }),
  thinking: members({ thinking: isText, signature: isText }),
  redacted: members({ redacted: isText }),
  tool_use: members({ tool_use: toolUse }),
};

const block: Check = (value, path) => {
  const kind = isObject(value) ? Object.keys(BLOCKS).find((key) => key in value) : undefined;
  if (kind === undefined) return [`${path}: must have one of ${Object.keys(BLOCKS).join(", ")}`];
  return BLOCKS[kind]!(value, path);
};

const replyProblems = members({
  document: isText,
  expect: expectation,
  reply: listOf(block),
  stop_reason: isText,
  stop_details: tableOf(anything),
  usage: tableOf(isCount),
  chunk: isCount,
  fault,
});
