// The table of settings in docs/reference/configuration.md, and the JSON Schema by which editors check settings files.

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

/** One table per top-level name. */
function tables(): string {
  const sections: string[] = [];
  for (const [name, node] of Object.entries(SCHEMA.members)) {
    const rows = keysOf(node, [name]);
    if (rows.length === 0) continue;
    sections.push(
      [
        `### ${name}`,
        "",
        "| key | type | default | set by | meaning |",
        "| --- | --- | --- | --- | --- |",
        ...rows.map(row),
        "",
      ].join("\n"),
    );
  }
  return [...sections, oldKeys()].join("\n");
}

function oldKeys(): string {
  const rows = Object.entries(OLD_KEYS).map(([key, { says }]) => `| ${code(key)} | ${cell(says)} |`);
  return ["### Old keys", "", "| key | effect |", "| --- | --- |", ...rows, ""].join("\n");
}

function keysOf(node: Node, path: readonly string[]): { path: readonly string[]; key: SettingKey }[] {
  if (node.node === "key") return [{ path, key: node }];
  return [
    ...(node.list === undefined ? [] : [{ path, key: node.list }]),
    ...Object.entries(node.members).flatMap(([name, member]) => keysOf(member, [...path, name])),
    ...(node.others === undefined ? [] : keysOf(node.others, [...path, "NAME"])),
  ];
}

function row({ path, key }: { path: readonly string[]; key: SettingKey }): string {
  const value = key.default === undefined ? "" : code(formatValue(key.default));
  const by = key.who.map((layer) => (layer === "P" && key.host && !key.loads ? "" : layer)).join("");
  const notes = [
    key.doc,
    ...(key.documentNarrows ? ["A document may only make it stricter."] : []),
  ];
  return `| ${code(path.join("."))} | ${cell(typeText(key.type))} | ${value} | ${by} | ${
    cell(notes.join(" "))
  } |`;
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

/** A schema for `yaml-language-server` and similar; operators on lists included. */
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

  /** A reference to this schema, unless the schema is small. */
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
