// Bundles the tests that need no system into one script for other runtimes.

import * as esbuild from "esbuild";
import { linkPackages } from "../../../scripts/build/bundle.ts";
import { bareNames } from "../../../scripts/build/packages.ts";
import { ROOT } from "../../../scripts/gate/root.ts";

const HERE = `${ROOT}/tests/library/elsewhere`;

/** The files that the tests read. */
const READ = ["tests/parser", "tests/vectors"];

export interface Elsewhere {
  /** Whether the runtime has `node:assert/strict`. */
  readonly hasAssert: boolean;
  /** What the tests get as their environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Tests whose names begin with one of these are left out. */
  readonly without?: readonly string[];
}

/** Bundles the tests; answers the text of a module that runs them and tells a `Report`. */
export async function bundleTests({ hasAssert, environment = {}, without = [] }: Elsewhere): Promise<string> {
  const entry = "tests/library/elsewhere/all.ts";
  const packages = await linkPackages(entry, `${ROOT}/.cache/elsewhere`);
  const { outputFiles } = await esbuild.build({
    entryPoints: [`${ROOT}/${entry}`],
    write: false,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    define: { process: "undefined" },
    external: ["node:*"],
    inject: [`${HERE}/runner.ts`],
    nodePaths: [packages],
    absWorkingDir: ROOT,
    preserveSymlinks: true,
    logLevel: "warning",
    banner: { js: `const EMBEDDED = ${JSON.stringify({ environment, without, files: await filesRead() })};` },
    plugins: [bareNames, placed(hasAssert)],
  });
  await esbuild.stop();
  return outputFiles[0]!.text;
}

/** Lets each test know its place, and find assertions where the runtime has none. */
function placed(hasAssert: boolean): esbuild.Plugin {
  return {
    name: "placed",
    setup(build) {
      if (!hasAssert) {
        build.onResolve({ filter: /^node:assert\/strict$/ }, () => ({ path: `${HERE}/assertions.ts` }));
      }
      build.onLoad({ filter: /\/tests\/.*\.ts$/ }, async ({ path }) => ({
        contents: (await Deno.readTextFile(path)).replaceAll(
          "import.meta.url",
          JSON.stringify(`file://${path}`),
        ),
        loader: "ts",
      }));
    },
  };
}

async function filesRead(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const folder of READ) {
    for await (const { name } of Deno.readDir(`${ROOT}/${folder}`)) {
      const path = `${ROOT}/${folder}/${name}`;
      if (/\.(txt|jsonl)$/.test(name)) files[path] = await Deno.readTextFile(path);
    }
  }
  return files;
}
