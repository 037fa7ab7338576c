// Names and ids as they travel: what every provider does alike.

import program from "../../deno.json" with { type: "json" };
import { toJson, writeJson } from "./json.ts";
import { byBytes } from "../../base/bytes.ts";
import { quickHash } from "../../base/hash.ts";
import type { OfferedTool } from "../types.ts";

/** How this program names itself to a provider. */
export const USER_AGENT = `flemma/${program.version}`;

/** Characters that providers allow in the name of a tool. */
const LONGEST_NAME = 64;

/**
 * The name of a tool on the wire. Providers refuse a colon, and any other character outside their alphabet too: a
 * name that a model once made up must not spoil every later request. A name that is too long, and names of offered tools
 * that come out alike, end with a hash of the whole name.
 *
 * @param offered the tools of the request, among which names must differ
 */
export function wireName(name: string, offered: readonly OfferedTool[] = []): string {
  const plain = plainName(name);
  if (plain.length <= LONGEST_NAME && !alikeIn(offered).has(plain)) return plain;
  return `${plain.slice(0, LONGEST_NAME - 9)}_${quickHash(name).slice(-8)}`;
}

function plainName(name: string): string {
  return name.replaceAll(":", "__").replace(/[^A-Za-z0-9_-]/gu, "_");
}

const alike = new WeakMap<readonly OfferedTool[], ReadonlySet<string>>();

/** Plain names that more than one of these tools would have. */
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
 * The tool's own name again. A name that was offered comes back exactly, also one that holds `__` itself;
 * otherwise every `__` becomes a colon.
 */
export function toolName(wire: string, offered: readonly OfferedTool[] = []): string {
  return offered.find((tool) => wireName(tool.name, offered) === wire)?.name ?? wire.replaceAll("__", ":");
}

/** Tools in the order of their own names, bytewise, so that the prefix of a request is stable. */
export function sortedTools(tools: readonly OfferedTool[]): readonly OfferedTool[] {
  return [...tools].sort((a, b) => byBytes(a.name, b.name));
}

/** The description with the shape of the output behind it, when the tool declares one. */
export function toolDescription(tool: OfferedTool): string {
  if (tool.output_schema === undefined) return tool.description;
  const schema = { $schema: "https://json-schema.org/draft/2020-12/schema", ...tool.output_schema };
  return `${tool.description}\n\nReturns (JSON Schema): ${writeJson(toJson(schema))}`;
}

/**
 * Ids in the alphabet that providers take, at most 64 characters, no two alike: documents may hold one id
 * several times, and cutting may take away just the part in which two ids differ.
 */
export class WireIds {
  readonly #taken = new Set<string>();

  /** The id under which one more call, and its result, goes out. Depends on nothing but the calls before. */
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
