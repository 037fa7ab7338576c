// Makes what is shipped: one minified bundle of the command line and one of the library, for Deno and Node.
//
// The bundle is built for the browser platform with `process` defined away: the packages then take their lean builds, and
// none of them wakes up the Node layer at start (docs/architecture.md has the figures).

import * as esbuild from "esbuild";
import { print, ROOT } from "./gate/root.ts";

interface Graph {
  readonly npmPackages: Readonly<Record<string, { readonly name: string; readonly localPath: string }>>;
}

/** Bundles one entry module; answers the size in bytes. */
export async function bundle(entry: string, target: string): Promise<number> {
  const packages = await linkPackages(entry);
  const result = await esbuild.build({
    entryPoints: [`${ROOT}/${entry}`],
    outfile: target,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    metafile: true,
    external: ["node:*"],
    define: { process: "undefined" },
    nodePaths: [packages],
    preserveSymlinks: true,
    logLevel: "warning",
  });
  await esbuild.stop();
  return Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
}

/** A folder of links in which a bundler finds the exact packages that the lock file pins. */
async function linkPackages(entry: string): Promise<string> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", entry],
    cwd: ROOT,
    stdout: "piped",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`the module graph of ${entry} could not be read`);
  const graph: Graph = JSON.parse(new TextDecoder().decode(stdout));
  const folder = `${ROOT}/.cache/bundle/node_modules`;
  await Deno.mkdir(folder, { recursive: true });
  for (const { name, localPath } of Object.values(graph.npmPackages)) {
    const link = `${folder}/${name}`;
    await Deno.mkdir(link.slice(0, link.lastIndexOf("/")), { recursive: true });
    await Deno.remove(link).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
    await Deno.symlink(localPath, link);
  }
  return folder;
}

if (import.meta.main) {
  await Deno.mkdir(`${ROOT}/dist`, { recursive: true });
  for (const [entry, target] of [["cli.ts", "dist/flemma.js"], ["mod.ts", "dist/mod.js"]] as const) {
    const bytes = await bundle(entry, `${ROOT}/${target}`);
    print(`${target}  ${(bytes / 1024).toFixed(1)} KB`);
  }
}
