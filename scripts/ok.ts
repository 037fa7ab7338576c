// The one gate: format, lint, types, layers, generated files, and the tests with the documented examples among them.

import { checkTree } from "./gate/layer_faults.ts";
import { staleFiles } from "./gate/generated.ts";
import { print, ROOT, run } from "./gate/root.ts";

const deno = Deno.execPath();
const steps: readonly [string, () => Promise<boolean>][] = [
  ["format", async () => await run(deno, ["fmt", "--check", "--quiet"]) === 0],
  ["lint", async () => await run(deno, ["lint", "--quiet"]) === 0],
  ["types", async () => await run(deno, ["check", "--quiet", "."]) === 0],
  ["layers", () => told(checkTree(ROOT))],
  ["generated files (stale ones are mended by `deno task generate`)", () => told(staleFiles(ROOT))],
  ["tests", async () => await run(deno, ["run", "-A", "scripts/test.ts"]) === 0],
];

for (const [name, step] of steps) {
  print(`== ${name}`);
  if (!await step()) {
    print(`FAILED: ${name}`);
    Deno.exit(1);
  }
}
print("all green");

async function told(faults: Promise<string[]>): Promise<boolean> {
  const lines = await faults;
  for (const line of lines) print(`  ${line}`);
  return lines.length === 0;
}
