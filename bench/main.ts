// `deno task bench [NAME] [--json]`: runs all benchmarks or one, prints a table or one JSON object a line.
// `deno task bench NAME --against DIR`: compares with the checkout in DIR instead, pair by pair.

import { type Bench, rowsOf, table } from "./harness.ts";
import { PAIRS } from "./pairs.ts";

const BENCHES: Readonly<Record<string, () => Promise<{ default: Bench }>>> = {
  approval: () => import("./approval.ts"),
  calls: () => import("./many/at_once.ts"),
  ceilings: () => import("./ceilings/sizes.ts"),
  "many-calls": () => import("./many/calls.ts"),
  lsp: () => import("./lsp.ts"),
  files: () => import("./files.ts"),
  many: () => import("./many/documents.ts"),
  parse: () => import("./parse.ts"),
  startup: () => import("./startup.ts"),
  sandbox: () => import("./sandbox.ts"),
  streams: () => import("./streams.ts"),
  tools: () => import("./tool_files.ts"),
};

const json = Deno.args.includes("--json");
const at = Deno.args.indexOf("--against");
const other = at < 0 ? null : Deno.args[at + 1] ?? "";
const names = Deno.args.filter((arg, index) => !arg.startsWith("--") && (at < 0 || index !== at + 1));
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  print(`unknown benchmark ${unknown.join(", ")}; there are: ${Object.keys(BENCHES).join(", ")}`);
  Deno.exit(2);
}

const folder = other === null ? null : await checkout(other);

for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const bench = (await BENCHES[name]!()).default;
  if (folder !== null && bench.against === undefined) {
    print(`${bench.name} cannot compare two checkouts`);
    if (names.length > 0) Deno.exit(2);
    continue;
  }
  if (!json) print(`${bench.name}: ${folder === null ? bench.about : `against ${folder}, ${PAIRS} pairs`}`);
  const rows = rowsOf(bench.name, await (folder === null ? bench.run() : bench.against!(folder)));
  print(json ? rows.map((row) => JSON.stringify(row)).join("\n") : `${table(rows)}\n`);
}

/** Absolute path of a checkout of this program. */
async function checkout(path: string): Promise<string> {
  try {
    const folder = await Deno.realPath(path);
    await Deno.stat(`${folder}/cli.ts`);
    return folder;
  } catch {
    print(`--against needs the folder of another checkout, which ${path || "(nothing)"} is not`);
    Deno.exit(2);
  }
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
