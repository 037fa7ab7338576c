// The TypeScript types of settings and their defaults, generated from the schema: config/settings.generated.ts.
//
// The types are written out rather than inferred by the compiler: the library's documentation has to show each of them
// with its description, and no command may evaluate the whole schema when it starts.

import { effectiveSettings } from "../../../config/layers/effective.ts";
import { BUILTIN_CATALOG } from "../../../config/schema/catalog.ts";
import type { Group, Node, SettingKey, Type } from "../../../config/schema/define.ts";
import { SCHEMA } from "../../../config/schema/schema.ts";

const PATH = "config/settings.generated.ts";
/** Modules with types that settings use. */
const MODULES = ["rules/rule.ts", "values.ts"];

export async function generate(): Promise<{ path: string; text: string }[]> {
  const interfaces = new Map<string, string>();
  typeOf(SCHEMA, interfaces);
  const { settings } = effectiveSettings([], { catalog: BUILTIN_CATALOG });
  const declared = [...interfaces.values()].join("\n\n");
  const imports: string[] = [];
  for (const module of MODULES) {
    const source = await Deno.readTextFile(new URL(`../../../config/${module}`, import.meta.url));
    const names = [...source.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name!)
      .filter((name) => new RegExp(`[ (<]${name}\\b`).test(declared)).sort();
    imports.push(`import type { ${names.join(", ")} } from "./${module}";`);
  }
  const defaults = JSON.stringify(settings, null, 2).replaceAll(/^( *)"(\w+)":/gm, "$1$2:");
  const text = [
    "// Made from config/schema/ by scripts/generate/settings/types.ts.",
    "",
    ...imports,
    "",
    declared,
    "",
    "/** The settings that no layer changes. */",
    `export const DEFAULT_SETTINGS: Settings = ${defaults};`,
    "",
  ].join("\n");
  return [{ path: PATH, text }];
}

/** Returns the type of a group's values; adds named interfaces to `interfaces`. */
function typeOf(group: Group, interfaces: Map<string, string>, isWritten = false): string {
  const { ts, adds } = group;
  if (group.holds === "written") return ts ?? "Readonly<Record<string, unknown>>";
  if (group.others !== undefined && group.others.node === "group" && group.others.holds !== "nothing") {
    const { others } = group;
    const of = others.others === undefined
      ? typeOf(others, interfaces, true)
      : "Readonly<Record<string, unknown>>";
    return `Readonly<Record<string, ${of}>>`;
  }
  const members = Object.entries(group.members).filter(([, node]) =>
    node.node === "key" || node.holds !== "nothing"
  );
  const lines = members.map(([name, node]) => member(name, node, interfaces, isWritten));
  const body = `{\n${lines.join("\n").replaceAll(/^/gm, "  ")}\n}`;
  if (ts === undefined) return body;
  interfaces.set(
    ts,
    `/** ${group.doc} */\nexport interface ${ts}${adds === undefined ? "" : ` extends ${adds}`} ${body}`,
  );
  return ts;
}

function member(name: string, node: Node, interfaces: Map<string, string>, isWritten: boolean): string {
  const isOptional = isWritten || (node.node === "group" && node.holds === "written");
  const type = node.node === "key" ? keyType(node) : typeOf(node, interfaces);
  const value = node.node === "key" && isWritten && node.default !== undefined
    ? ` @default ${JSON.stringify(node.default)}`
    : "";
  return `/** ${node.doc}${value} */\nreadonly ${name}${isOptional ? "?" : ""}: ${type};`;
}

function keyType({ ts, type, optional }: SettingKey): string {
  return `${ts ?? typeText(type)}${optional ? " | null" : ""}`;
}

function typeText(type: Type): string {
  switch (type.is) {
    case "boolean":
    case "string":
      return type.is;
    case "number":
    case "integer":
      return "number";
    case "word":
      return type.words.map((word) => JSON.stringify(word)).join(" | ");
    case "list": {
      const item = typeText(type.item);
      return `readonly ${/ /.test(item) ? `(${item})` : item}[]`;
    }
    case "map":
      return `Readonly<Record<string, ${typeText(type.of)}>>`;
    case "any":
      return "unknown";
    case "custom":
      return type.ts;
  }
}
