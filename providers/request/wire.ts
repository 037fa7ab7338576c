// Tool names and call ids in requests, common to all providers.

import program from "../../deno.json" with { type: "json" };
import { toJsonValue, writeJson } from "./json.ts";
import { byBytes } from "../../base/bytes.ts";
import { quickHash } from "../../base/hash.ts";
import type { OfferedTool } from "../types.ts";

export const USER_AGENT = `flemma/${program.version}`;

/** Maximum length of a tool name that providers accept. */
const LONGEST_NAME = 64;

/**
 * Returns the name of a tool in requests. Providers refuse colons and other special characters, so these are replaced.
 * A name that a model once made up must not break every later request. Names that are too long or no longer differ end
 * with a hash of the whole name.
 *
 * @param offered the tools of the request, among which names must differ
 */
export function wireName(name: string, offered: readonly OfferedTool[] = []): string {
  const plain = plainName(name);
  if (plain.length <= LONGEST_NAME && !alikeIn(offered).has(plain)) return plain;
  return `${plain.slice(0, LONGEST_NAME - 9)}_${quickHash(name).slice(-8)}`;
}

/** Newer versions of flemma.nvim separate the parts of a name by dots. A dot after a colon is a server's own. */
function plainName(name: string): string {
  return name.replaceAll(name.includes(":") ? ":" : ".", "__").replace(/[^A-Za-z0-9_-]/gu, "_");
}

const alike = new WeakMap<readonly OfferedTool[], ReadonlySet<string>>();

/** Some tools get the same name when it is reduced to the characters that providers accept. Returns these names. */
function alikeIn(offered: readonly OfferedTool[]): ReadonlySet<string> {
  const known = alike.get(offered);
  if (known !== undefined) return known;
  const seen = new Set<string>();
  const found = new Set<string>();
  for (const { name } of offered) {
    const plain = plainName(name);
    if (seen.has(plain)) found.add(plain);
    seen.add(plain);
  }
  alike.set(offered, found);
  return found;
}

/**
 * Returns the tool's own name for a name in a reply. For an offered tool, this is exactly its name, which may contain
 * `__`. In any other name, every `__` becomes a colon.
 */
export function toolName(wire: string, offered: readonly OfferedTool[] = []): string {
  return offered.find((tool) => wireName(tool.name, offered) === wire)?.name ?? wire.replaceAll("__", ":");
}

/** Sorts tools bytewise by their own names, so that the prefix of a request is stable. */
export function sortedTools(tools: readonly OfferedTool[]): readonly OfferedTool[] {
  return [...tools].sort((a, b) => byBytes(a.name, b.name));
}

/** Returns the description, with the output schema appended if the tool declares one. */
export function toolDescription(tool: OfferedTool): string {
  if (tool.output_schema === undefined) return tool.description;
  const schema = { $schema: "https://json-schema.org/draft/2020-12/schema", ...tool.output_schema };
  return `${tool.description}\n\nReturns (JSON Schema): ${writeJson(toJsonValue(schema))}`;
}

/**
 * Creates unique call ids in the characters that providers accept, at most 64 long. Documents may repeat an id, and
 * shortening may make ids equal.
 */
export class WireIds {
  readonly #taken = new Set<string>();

  /** Returns the id for one more call and its result. The id depends only on the calls before. */
  next(id: string): string {
    const plain = normalize(id);
    let wire = plain;
    for (let count = 2; this.#taken.has(wire) || wire === ""; count++) {
      const suffix = `_${count}`;
      wire = `${plain.slice(0, 64 - suffix.length)}${suffix}`;
    }
    this.#taken.add(wire);
    return wire;
  }
}

function normalize(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, 64).replace(/_+$/, "");
}
