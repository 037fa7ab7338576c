// Writes the table of settings in docs/reference/configuration.md, and the JSON Schema with which editors check
// settings files.

import { SCHEMA } from "../../../config/schema/schema.ts";
import { OLD_KEYS } from "../../../config/data/old_keys.ts";
import type { Node, SettingKey, Type } from "../../../config/schema/define.ts";
import { LAYER_NAMES } from "../../../config/types.ts";
import { formatValue } from "../../../config/layers/render.ts";

const PAGE = "docs/reference/configuration.md";
const BEGIN = "<!-- settings: generated from config/schema/schema.ts -->";
const END = "<!-- end of settings -->";

export async function generate(): Promise<{ path: string; text: string }[]> {
  const page = await Deno.readTextFile(new URL(`../../../${PAGE}`, import.meta.url));
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${PAGE} has lost the marks around the table of settings.`);
  const text = `${page.slice(0, from + BEGIN.length)}\n\n${tables()}\n${page.slice(to)}`;
  return [{ path: PAGE, text }];
}

/** Returns one table for all names with a single key, then one table for each other name. */
function tables(): string {
  const groups = Object.entries(SCHEMA.members).map(([name, node]) => ({ name, keys: keysOf(node, [name]) }));
  const single = groups.filter(({ keys }) => keys.length === 1).flatMap(({ keys }) => keys);
  const sections = groups.filter(({ keys }) => keys.length > 1)
    .map(({ name, keys }) => [`### ${name}`, "", ...table(keys)].join("\n"));
  return [table(single).join("\n"), ...sections, oldKeys()].join("\n");
}

/** Returns a table of keys. Keys of the same last name that agree in everything else share a row. */
function table(keys: readonly PlacedKey[]): string[] {
  const shared = Map.groupBy(keys, ({ path, key }) => `${path.at(-1)} ${facts(key)}`);
  return [
    "| key | type | default | set by | meaning |",
    "| --- | --- | --- | --- | --- |",
    ...[...shared.values()].map((same) =>
      `| ${same.map(({ path }) => code(path.join("."))).join(", ")} | ${facts(same[0]!.key)} |`
    ),
    "",
  ];
}

function oldKeys(): string {
  const shared = Map.groupBy(Object.entries(OLD_KEYS), ([, { says }]) => says);
  const rows = [...shared].map(([says, keys]) =>
    `| ${keys.map(([key]) => code(key)).join(", ")} | ${cell(says)} |`
  );
  return ["### Old keys", "", "| key | effect |", "| --- | --- |", ...rows, ""].join("\n");
}

interface PlacedKey {
  readonly path: readonly string[];
  readonly key: SettingKey;
}

function keysOf(node: Node, path: readonly string[]): PlacedKey[] {
  if (node.node === "key") return [{ path, key: node }];
  return [
    ...(node.list === undefined ? [] : [{ path, key: node.list }]),
    ...Object.entries(node.members).flatMap(([name, member]) => keysOf(member, [...path, name])),
    ...(node.others === undefined ? [] : keysOf(node.others, [...path, "NAME"])),
  ];
}

/** Returns the cells of a row after the key. */
function facts(key: SettingKey): string {
  const value = key.default === undefined ? "" : code(formatValue(key.default));
  const by = key.who.map((layer) => (layer === "P" && key.host && !key.loads ? "" : layer)).join("");
  const notes = [
    key.doc,
    ...(key.documentNarrows ? ["A document may only make it stricter."] : []),
  ];
  return `${cell(typeText(key.type))} | ${value} | ${by} | ${cell(notes.join(" "))}`;
}

function typeText(type: Type): string {
  switch (type.is) {
    case "word":
      return type.words.map((word) => code(word)).join(", ");
    case "list":
      return type.item.is === "string" ? "list" : `list: ${typeText(type.item)}`;
    case "map":
      return "mapping";
    case "custom":
      return type.expected;
    default:
      return type.is;
  }
}

const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;
const cell = (text: string) => text.replaceAll("|", "\\|");

/** Returns a schema for `yaml-language-server` and similar programs, including operators on lists. */
export function settingsSchema(): Record<string, unknown> {
  const shared = new Shared();
  const root = schemaOf(SCHEMA, "#", shared);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Settings of flemma",
    ...root,
    $defs: shared.definitions,
  };
}

/** Schemas of values that occur at many keys, each written once. */
class Shared {
  readonly definitions: Record<string, unknown> = {};
  readonly #names = new Map<string, string>();

  /** Returns a reference to this schema, unless the schema is small. */
  refer(schema: Record<string, unknown>): Record<string, unknown> {
    const text = JSON.stringify(schema);
    if (text.length < 60) return schema;
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `value${this.#names.size + 1}`;
      this.#names.set(text, name);
      this.definitions[name] = schema;
    }
    return { $ref: `#/$defs/${name}` };
  }
}

/** @param pointer where the schema will be, for references of aliases */
function schemaOf(node: Node, pointer: string, shared: Shared): Record<string, unknown> {
  if (node.node === "key") return keySchema(node, shared);
  const inner = `${pointer}/properties`;
  const properties: Record<string, unknown> = Object.fromEntries(
    Object.entries(node.members).map((
      [name, member],
    ) => [name, schemaOf(member, `${inner}/${name}`, shared)]),
  );
  for (const [key, { isEditors }] of Object.entries(OLD_KEYS)) {
    const name = key.slice(key.lastIndexOf(".") + 1);
    if (isEditors && `#/properties/${key.replaceAll(".", "/properties/")}` === `${inner}/${name}`) {
      properties[name] = { description: "Belongs to the editor plugin; has no effect here." };
    }
  }
  for (const [alias, path] of Object.entries(node.aliases ?? {})) {
    if (!Object.hasOwn(properties, alias)) {
      properties[alias] = { $ref: `${inner}/${path.join("/properties/")}` };
    }
  }
  const short = [
    ...(node.list === undefined ? [] : ["array"]),
    ...(node.short === undefined ? [] : ["boolean"]),
  ];
  return {
    description: node.doc,
    type: ["object", ...short, "null"],
    properties: node.list === undefined ? properties : { ...properties, ...operators(node.list, shared) },
    ...(node.list === undefined ? {} : { items: typeSchema((node.list.type as { item: Type }).item) }),
    ...(node.presets
      ? { patternProperties: { "^\\$": schemaOf(node.others!, "", shared) }, additionalProperties: false }
      : { additionalProperties: node.others === undefined ? false : schemaOf(node.others, "", shared) }),
  };
}

function keySchema(key: SettingKey, shared: Shared): Record<string, unknown> {
  const value = shared.refer(typeSchema(key.type));
  const operated = key.type.is === "list"
    ? shared.refer({ type: "object", properties: operators(key, shared), additionalProperties: false })
    : shared.refer({
      type: "object",
      properties: { $set: value },
      required: ["$set"],
      additionalProperties: false,
    });
  return {
    description: `${key.doc} Set by: ${key.who.map((layer) => LAYER_NAMES[layer]).join(", ")}.`,
    ...(key.default === undefined ? {} : { default: key.default }),
    anyOf: [
      value,
      operated,
      ...(key.callable ? [{ type: "string" }] : []),
      ...(key.optional ? [{ type: "null" }] : []),
    ],
  };
}

function operators(key: SettingKey, shared: Shared): Record<string, unknown> {
  const item = key.type.is === "list" ? typeSchema(key.type.item) : {};
  const items = shared.refer({ anyOf: [item, { type: "array", items: item }] });
  return { $set: shared.refer(typeSchema(key.type)), $append: items, $prepend: items, $remove: items };
}

function typeSchema(type: Type): Record<string, unknown> {
  switch (type.is) {
    case "any":
      return {};
    case "boolean":
      return { type: "boolean" };
    case "string":
      return { type: "string", minLength: 1 };
    case "number":
    case "integer":
      return { type: type.is, ...(type.min === undefined ? {} : { minimum: type.min }) };
    case "word":
      return { enum: type.words };
    case "list":
      return { type: "array", items: typeSchema(type.item) };
    case "map":
      return { type: "object", additionalProperties: typeSchema(type.of) };
    case "custom":
      return { ...type.json };
  }
}
