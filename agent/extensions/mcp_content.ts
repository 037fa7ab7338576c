// Prompts and resources of MCP servers, as quoted text.

import type { Environment } from "../../base/environment.ts";
import { isObject, textOrEmpty } from "../../base/is_object.ts";
import { nearest } from "../../base/names.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { Loaded } from "../../config/sources/find.ts";
import { sandboxOf } from "../sandbox.ts";
import { serverPlace } from "./mcp.ts";

/** A prompt or a resource that a server lists. */
export interface ServerContent {
  /** Name of the prompt, or address of the resource. */
  readonly name: string;
  readonly description: string;
  /** Arguments of a prompt; required ones first. */
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
}

/** Prompts and resources of one server. */
export interface ServerContents {
  list(kind: "prompts" | "resources"): Promise<Outcome<readonly ServerContent[]>>;
  /** Returns a prompt as text for a message. */
  prompt(name: string, given: Readonly<Record<string, string>>): Promise<Outcome<string>>;
  /** Returns the text of a resource. */
  read(uri: string): Promise<Outcome<string>>;
  close(): Promise<void>;
}

/** Quotes a text as a block in which nothing takes effect; `name` is its info string. */
type Quote = (text: string, name: string) => string;

/** Maximum number of pages of a list; a longer list is assumed to be endless. */
const MOST_PAGES = 100;

/** Returns the contents of a server of the settings. Fails with `usage` if there is none that may be used. */
export async function serverContents(
  name: string,
  { loaded, environment, quote, tell }: {
    readonly loaded: Loaded;
    readonly environment: Environment;
    readonly quote: Quote;
    tell(problem: Problem): void;
  },
): Promise<Outcome<ServerContents>> {
  const { settings } = loaded;
  const { mcp: { servers }, tools } = settings;
  const own = Object.hasOwn(servers, name) ? servers[name]! : null;
  if (own === null || own.enabled === false || Boolean(own.command) === Boolean(own.url)) {
    const isUntrusted = own === null && tools.untrusted_servers.includes(name);
    const close = nearest(name, Object.keys(servers));
    return failure(
      "usage",
      isUntrusted
        ? `The MCP server ${name} is defined in ${tools.servers_file}, which is not trusted.`
        : own === null
        ? `There is no MCP server ${name} in the settings.`
        : `The MCP server ${name} is not used.`,
      close === null || close === name ? "See: flemma config get mcp.servers" : `Did you mean ${close}?`,
    );
  }
  const { Server } = await import("../../tools/mcp/server.ts");
  const sandbox = sandboxOf(environment, { path: null, named: null }, { settings, loaded });
  const server = new Server(
    name,
    own,
    await serverPlace({ settings, environment, document: null, sandbox }, tell),
  );
  return success({
    list: async (kind) => {
      const found: ServerContent[] = [];
      let cursor: unknown;
      for (let page = 0; page < MOST_PAGES; page++) {
        const params = typeof cursor === "string" ? { cursor } : {};
        const listed = await server.request(`${kind}/list`, params);
        if (!listed.ok) return listed;
        const answer = isObject(listed.value) ? listed.value : {};
        const items = Array.isArray(answer[kind]) ? answer[kind].filter(isObject) : [];
        found.push(...items.map((item) => contentOf(item, kind)));
        cursor = answer.nextCursor;
        if (typeof cursor !== "string") break;
      }
      return success(found);
    },
    prompt: async (prompt, given) => {
      const got = await server.request("prompts/get", { name: prompt, arguments: given });
      return got.ok ? success(quotedPrompt(got.value, quote)) : got;
    },
    read: async (uri) => {
      const got = await server.request("resources/read", { uri });
      return got.ok ? success(quotedResource(got.value, quote)) : got;
    },
    close: () => server.close(),
  });
}

function contentOf(item: Record<string, unknown>, kind: "prompts" | "resources"): ServerContent {
  const given = Array.isArray(item.arguments) ? item.arguments.filter(isObject) : [];
  const own = given.map((each) => ({ name: textOrEmpty(each.name), required: each.required === true }));
  return {
    name: textOrEmpty(kind === "prompts" ? item.name : item.uri),
    description: textOrEmpty(item.description ?? item.title ?? (kind === "prompts" ? "" : item.name)),
    arguments: [...own.filter(({ required }) => required), ...own.filter(({ required }) => !required)],
  };
}

/** Returns the messages of a prompt, each as a block in which nothing takes effect. */
function quotedPrompt(answer: unknown, quote: Quote): string {
  const messages = isObject(answer) && Array.isArray(answer.messages) ? answer.messages.filter(isObject) : [];
  return messages.map(({ role, content }) => {
    const parts = [content].flat().filter(isObject).map(partText);
    return quote(parts.join("\n"), role === "assistant" ? "prompt assistant" : "prompt");
  }).join("\n");
}

function partText(part: Record<string, unknown>): string {
  switch (part.type) {
    case "text":
      return textOrEmpty(part.text);
    case "resource":
      return isObject(part.resource) ? contentText(part.resource) : "";
    case "resource_link":
      return `[${textOrEmpty(part.name)}: ${textOrEmpty(part.uri)}]`;
    default:
      return `[${textOrEmpty(part.mimeType) || textOrEmpty(part.type)}, not shown]`;
  }
}

/** Returns the contents of a resource, as a block in which nothing takes effect. */
function quotedResource(answer: unknown, quote: Quote): string {
  const contents = isObject(answer) && Array.isArray(answer.contents) ? answer.contents.filter(isObject) : [];
  return contents.map((content) => quote(contentText(content), "resource")).join("\n");
}

function contentText({ uri, text, mimeType }: Record<string, unknown>): string {
  if (typeof text === "string") return text;
  return `[${textOrEmpty(uri)}: ${textOrEmpty(mimeType) || "binary"}, not shown]`;
}
