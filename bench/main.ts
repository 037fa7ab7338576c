// `deno task bench [NAME] [--json]`: runs all benchmarks or one, prints a table or one JSON object a line.

import { type Bench, rowsOf, table } from "./harness.ts";

const BENCHES: Readonly<Record<string, () => Promise<{ default: Bench }>>> = {
  parse: () => import("./parse.ts"),
  startup: () => import("./startup.ts"),
  sandbox: () => import("./sandbox.ts"),
};

const json = Deno.args.includes("--json");
const names = Deno.args.filter((arg) => !arg.startsWith("--"));
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  print(`unknown benchmark ${unknown.join(", ")}; there are: ${Object.keys(BENCHES).join(", ")}`);
  Deno.exit(2);
}

for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const bench = (await BENCHES[name]!()).default;
  if (!json) print(`${bench.name}: ${bench.about}`);
  const rows = rowsOf(bench.name, await bench.run());
  print(json ? rows.map((row) => JSON.stringify(row)).join("\n") : `${table(rows)}\n`);
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
