// Runs all benchmarks or one: `deno task bench [NAME] [--json]` prints a table or one JSON object per line.
// `deno task bench NAME --against DIR`: compares with the checkout in DIR instead, pair by pair.
// `deno task bench [NAME] --record`: also stores the figures for docs/project/performance.md.
// `deno task bench --report`: some benchmarks in brief, for an overview; reports failures, but always exits with 0.

import manifest from "../deno.json" with { type: "json" };
import { type Bench, rowsOf, table } from "./harness.ts";
import { PAIRS } from "./pairs.ts";
import { record, thisMachine } from "./record/record.ts";

const BENCHES: Readonly<Record<string, () => Promise<{ default: Bench }>>> = {
  approval: () => import("./approval.ts"),
  batch: () => import("./many/batch.ts"),
  calls: () => import("./many/at_once.ts"),
  ceilings: () => import("./ceilings/sizes.ts"),
  landlock: () => import("./ceilings/landlock.ts"),
  "many-calls": () => import("./many/calls.ts"),
  lsp: () => import("./lsp.ts"),
  files: () => import("./files.ts"),
  many: () => import("./many/documents.ts"),
  parse: () => import("./parser/parse.ts"),
  startup: () => import("./startup.ts"),
  hooks: () => import("./hooks.ts"),
  sandbox: () => import("./sandbox.ts"),
  streams: () => import("./streams.ts"),
  tools: () => import("./tool_files.ts"),
};

/** The benchmarks of a report, and the seconds after which no other one is started. */
const REPORTED = ["startup", "parse", "approval"];
const REPORT_SECONDS = 40;

if (Deno.args.includes("--help") || Deno.args.includes("-h")) {
  print(`deno task bench [NAME…] [--json] [--record] [--against DIR] [--report]
Benchmarks: ${Object.keys(BENCHES).join(", ")}`);
  Deno.exit(0);
}
const json = Deno.args.includes("--json");
const at = Deno.args.indexOf("--against");
const other = at < 0 ? null : Deno.args[at + 1] ?? "";
const names = Deno.args.filter((arg, index) => !arg.startsWith("--") && (at < 0 || index !== at + 1));
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  print(`unknown benchmark ${unknown.join(", ")}; there are: ${Object.keys(BENCHES).join(", ")}`);
  Deno.exit(2);
}

const recorded = Deno.args.includes("--record");
if (recorded && other !== null) {
  print("--record keeps figures of this checkout alone, without --against");
  Deno.exit(2);
}
if (Deno.args.includes("--report")) {
  await report(names.length > 0 ? names : REPORTED);
  Deno.exit(0);
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
  if (!recorded) continue;
  const day = new Date().toISOString().slice(0, 10);
  const { name: title, about } = bench;
  const { version } = manifest;
  await record({ bench: title, about, day, version, machine: await thisMachine(), rows });
}

/** Runs benchmarks in brief, one after the other while there is time. */
async function report(names: readonly string[]): Promise<void> {
  const begun = performance.now();
  for (const name of names) {
    if (performance.now() - begun > REPORT_SECONDS * 1000) {
      print(`${name}: left out, for the others took ${REPORT_SECONDS} seconds`);
      continue;
    }
    try {
      const bench = (await BENCHES[name]!()).default;
      print(`${name}, in brief:\n${table(rowsOf(name, await bench.run(true)))}\n`);
    } catch (error) {
      print(`${name} failed: ${(error as Error).stack}`);
    }
  }
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
