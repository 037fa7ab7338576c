// Runs all tests of the system-independent library in the runtimes that people use. Also runs a program in each of
// them that uses the installed npm package.
//
//   test_runtimes.ts [NAME…]   in these runtimes, or in all

import { inBrowser } from "../../tests/browser.ts";
import { bundleTests } from "../../tests/library/elsewhere/bundle.ts";
import { ANSWER, ANSWER_WITH_FILES, PROGRAM } from "../../tests/library/elsewhere/program.ts";
import type { Report } from "../../tests/library/elsewhere/runner.ts";
import { bundleLibrary } from "../build/bundle.ts";
import { buildPackages } from "../build/npm.ts";
import { print } from "./root.ts";

const SYSTEM = `${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`;

/** The npm package of each runtime, and the path of its program; the browser must be installed already. */
const RUNTIMES: Readonly<Record<string, { readonly name: string; readonly program: string } | null>> = {
  "node-22": { name: `node-${SYSTEM}@22`, program: `node-${SYSTEM}/bin/node` },
  "node-24": { name: `node-${SYSTEM}@24`, program: `node-${SYSTEM}/bin/node` },
  bun: { name: `@oven/bun-${SYSTEM}@1.4`, program: `@oven/bun-${SYSTEM}/bin/bun` },
  chromium: null,
};

/** Maximum number of milliseconds for all tests in a browser on a busy machine. */
const LONGEST = 3_600_000;

const names = Deno.args.length > 0 ? Deno.args : Object.keys(RUNTIMES);
const unknown = names.find((name) => !Object.hasOwn(RUNTIMES, name));
if (unknown !== undefined) {
  print(`there is no runtime ${unknown}: deno task test-runtimes [${Object.keys(RUNTIMES).join("|")}]…`);
  Deno.exit(2);
}

const root = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-runtimes-" });
let broken = 0;
try {
  for (const name of names) {
    const runtime = RUNTIMES[name]!;
    const { version, report, answer } =
      await (runtime === null ? browser() : program(`${root}/${name}`, runtime));
    for (const { name, error } of report.failed) print(`  FAILED: ${name}\n${error}`);
    const used = JSON.stringify(answer) === JSON.stringify(runtime === null ? ANSWER : ANSWER_WITH_FILES);
    if (!used) print(`  the package answers ${JSON.stringify(answer)}`);
    print(`${name} (${version}): ${report.passed} passed, ${report.failed.length + (used ? 0 : 1)} failed`);
    if (report.failed.length > 0 || report.passed === 0 || !used) broken++;
  }
} finally {
  await Deno.remove(root, { recursive: true });
}
Deno.exit(broken === 0 ? 0 : 1);

interface RunResult {
  readonly version: string;
  readonly report: Report;
  /** The output of the program that uses the package. */
  readonly answer: unknown;
}

/** Tests the library and the package in a runtime that is a program. */
async function program(folder: string, runtime: { name: string; program: string }): Promise<RunResult> {
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  for (const place of ["runtime", "project"]) {
    await Deno.mkdir(`${folder}/${place}`, { recursive: true });
    await Deno.writeTextFile(`${folder}/${place}/package.json`, '{"private":true,"type":"module"}');
  }
  await outputOf("npm", ["install", ...flags, runtime.name], `${folder}/runtime`);
  const start = `${folder}/runtime/node_modules/${runtime.program}`;
  const [built] = await buildPackages(`${folder}/built`);
  const archive = await outputOf("npm", ["pack", "--silent", "--pack-destination", folder, built!], folder);
  await outputOf("npm", ["install", ...flags, `${folder}/${archive.trim()}`], `${folder}/project`);
  await Deno.writeTextFile(`${folder}/tests.mjs`, await bundleTests({ hasAssert: true }));
  await Deno.writeTextFile(
    `${folder}/project/main.js`,
    `import * as flemma from "flemma";\nconsole.log(JSON.stringify(await (${PROGRAM})(flemma)));\n`,
  );
  return {
    version: (await outputOf(start, ["--version"], folder)).trim(),
    report: JSON.parse(await outputOf(start, [`${folder}/tests.mjs`], folder)),
    answer: JSON.parse(await outputOf(start, ["main.js"], `${folder}/project`)),
  };
}

/** Tests the library in the browser, in a page for each part. */
async function browser(): Promise<RunResult> {
  await bundleLibrary(`${root}/mod.js`);
  const library = JSON.stringify(await Deno.readTextFile(`${root}/mod.js`));
  const page = `const url = URL.createObjectURL(new Blob([${library}], { type: "text/javascript" }));
const tell = (value) => fetch("/report", { method: "POST", body: JSON.stringify(value) });
import(url).then(${PROGRAM}).then(tell, (error) => tell(String(error)));`;
  return {
    version: (await outputOf("chromium", ["--version"], root)).trim(),
    report: await inBrowser(await bundleTests({ hasAssert: false }), LONGEST) as Report,
    answer: await inBrowser(page),
  };
}

/** Returns what a program prints; throws if it fails. */
async function outputOf(name: string, args: readonly string[], cwd: string): Promise<string> {
  const command = new Deno.Command(name, { args: [...args], cwd, stdin: "null", stderr: "inherit" });
  const { success, stdout } = await command.output();
  if (!success) throw new Error(`failed: ${name} ${args.join(" ")}`);
  return new TextDecoder().decode(stdout);
}
