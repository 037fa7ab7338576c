// Makes what is shipped: a minified bundle of the command line and one of the library, for Deno.
//
// A bundle is built for the browser platform with `process` defined away: the packages then take their lean builds, and
// none of them wakes up the Node layer at start. It is split where the sources import dynamically, because reading 800 KB
// in one piece costs a start more than the empty program does (docs/architecture.md has the figures).

import * as esbuild from "esbuild";
import { print, ROOT } from "./gate/root.ts";

interface Graph {
  readonly npmPackages: Readonly<Record<string, { readonly name: string; readonly localPath: string }>>;
}

/**
 * Bundles one entry module into the file `target`, with its parts in a folder of the same name; answers the size of all
 * together in bytes.
 *
 * The parts of the program that are loaded later are hidden from Deno, which reads and analyses every file whose name it
 * can tell in advance: a start that runs one command would pay for all of them. The library keeps them in sight for
 * whoever bundles it again.
 */
export async function bundle(entry: "cli.ts" | "mod.ts", target: string): Promise<number> {
  const slash = target.lastIndexOf("/");
  const name = target.slice(slash + 1).replace(/\.js$/, "");
  const packages = await linkPackages(entry);
  const result = await esbuild.build({
    entryPoints: [`${ROOT}/${entry}`],
    outdir: target.slice(0, slash),
    entryNames: name,
    chunkNames: `${name}/[name]-[hash]`,
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    external: ["node:*"],
    define: { process: "undefined" },
    nodePaths: [packages],
    preserveSymlinks: true,
    logLevel: "warning",
  });
  await esbuild.stop();
  let size = 0;
  await Deno.mkdir(`${target.slice(0, slash)}/${name}`, { recursive: true });
  for (const { path, text } of result.outputFiles) {
    await Deno.writeTextFile(path, entry === "cli.ts" ? hideImports(text) : text);
    size += (await Deno.stat(path)).size;
  }
  return size;
}

/** An import whose name has to be computed is loaded when it comes to it. */
function hideImports(code: string): string {
  return code.replace(/\bimport\(("\.[^"]+")\)/g, "import([$1][0])");
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
  // What an earlier build left would be shipped along.
  await Deno.remove(`${ROOT}/dist`, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.mkdir(`${ROOT}/dist`);
  for (const [entry, target] of [["cli.ts", "dist/flemma.js"], ["mod.ts", "dist/mod.js"]] as const) {
    const bytes = await bundle(entry, `${ROOT}/${target}`);
    print(`${target}  ${(bytes / 1024).toFixed(1)} KB`);
  }
}
