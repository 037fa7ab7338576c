// Writes what pages and settings say about vendors from their table: addresses, variables with keys, and who gets requests.

import { type Vendor, VENDORS } from "../../../providers/vendors.ts";
import { ROOT } from "../../gate/root.ts";

const BEGIN = "<!-- from providers/vendors.ts -->";
const END = "<!-- end -->";

const ADDRESSES = ["| provider | API (`kind`) and address | variable with the key |", "| --- | --- | --- |"];
const RECIPIENTS = ["| provider | gets the requests | keeps |", "| --- | --- | --- |"];

export async function generate(): Promise<{ path: string; text: string }[]> {
  const vendors = Object.entries(VENDORS);
  return [
    { path: "config/data/vendors.generated.ts", text: keys() },
    await withTable("docs/reference/providers.md", [...ADDRESSES, ...vendors.map(addressRow)]),
    await withTable("docs/reference/privacy.md", [...RECIPIENTS, ...vendors.map(recipientRow)]),
  ];
}

/** Replaces the table between the two comments of a page. */
async function withTable(path: string, rows: readonly string[]): Promise<{ path: string; text: string }> {
  const page = await Deno.readTextFile(`${ROOT}/${path}`);
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${path}: there is no place for the table of vendors.`);
  return { path, text: `${page.slice(0, from)}${BEGIN}\n\n${rows.join("\n")}\n\n${page.slice(to)}` };
}

function addressRow([name, { kind, baseUrls, keyVariables, isLocal }]: [string, Vendor]): string {
  const kinds = Object.entries(baseUrls).toSorted(([a], [b]) => Number(b === kind) - Number(a === kind));
  const addresses = kinds.map(([api, url]) => `\`${api}\` \`${url}\``).join("<br>");
  const key = keyVariables.map((variable) => `\`${variable}\``).join(" or ");
  return `| \`${name}\` | ${addresses} | ${
    isLocal ? (key === "" ? "none" : `${key}, if it needs one`) : key
  } |`;
}

function recipientRow([name, { display, baseUrls, isLocal }]: [string, Vendor]): string {
  const hosts = [...new Set(Object.values(baseUrls).map((url) => url.split("/")[2]!))];
  return isLocal
    ? `| \`${name}\` | your own server (${hosts.join(", ")}) | what you configured there |`
    : `| \`${name}\` | ${display}: ${hosts.join(", ")} | as ${display} documents |`;
}

function keys(): string {
  const rows = Object.entries(VENDORS).map(([name, { keyVariables }]) =>
    `  ${JSON.stringify(name)}: [${keyVariables.map((variable) => JSON.stringify(variable)).join(", ")}],`
  );
  return [
    "// Made from providers/vendors.ts by scripts/generate/pages/vendors.ts (deno task generate).",
    "",
    "/** The variables that may hold the key of each vendor. */",
    "export const VENDOR_KEYS: Readonly<Record<string, readonly string[]>> = {",
    ...rows,
    "};",
    "",
  ].join("\n");
}
