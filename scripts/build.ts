// Makes what is shipped: a minified bundle of the command line and one of the library, for Deno.
//
// A bundle is built for the browser platform with `process` defined away: the packages then take their lean builds, and
// none of them wakes up the Node layer at start. The program is cut into few files along what a run needs: one piece of
// 800 KB costs help and version more than the empty program does, forty pieces cost the commands as much
// (docs/architecture.md has the figures).

import * as esbuild from "esbuild";
import { print, ROOT } from "./gate/root.ts";

interface Graph {
  readonly npmPackages: Readonly<Record<string, { readonly name: string; readonly localPath: string }>>;
}

/** What the command line loads late, each as one file: by the import that asks for it. */
const LATE: Readonly<Record<string, string>> = {
  "./load.ts": "commands",
  "./interpreter.generated.ts": "lua",
  "yaml": "yaml",
  "ajv": "ajv",
  "ajv/dist/2020.js": "ajv2020",
};

/**
 * Bundles the command line into the file `target` and what it loads late into a folder of the same name; answers the
 * size of all together in bytes.
 *
 * Help and version need the first file alone. All commands share the second, in which modules still come to life only
 * when they are imported: reading forty small files took longer than reading one. Data and packages that few runs need
 * stand apart.
 */
export async function bundleProgram(target: string): Promise<number> {
  const folder = target.replace(/\.js$/, "");
  const name = folder.slice(folder.lastIndexOf("/") + 1);
  const packages = await linkPackages("cli.ts");
  await Deno.mkdir(folder, { recursive: true });
  let size = await build(`${ROOT}/cli.ts`, target, packages, `./${name}`);
  for (
    const [entry, part] of [
      [`${ROOT}/commands/load.ts`, "commands"],
      [`${ROOT}/lua/interpreter.generated.ts`, "lua"],
      ["yaml", "yaml"],
      ["ajv", "ajv"],
      ["ajv/dist/2020.js", "ajv2020"],
    ] as const
  ) size += await build(entry, `${folder}/${part}.js`, packages, ".");
  await esbuild.stop();
  return size;
}

/** Bundles the library into one file; answers its size in bytes. */
export async function bundleLibrary(target: string): Promise<number> {
  const size = await build(`${ROOT}/mod.ts`, target, await linkPackages("mod.ts"), null);
  await esbuild.stop();
  return size;
}

/** Makes one file. `parts` is where late imports are found from there, or null when all is to be in the file. */
async function build(entry: string, target: string, packages: string, parts: string | null): Promise<number> {
  const result = await esbuild.build({
    entryPoints: [entry],
    outfile: target,
    write: false,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    external: ["node:*"],
    define: { process: "undefined" },
    nodePaths: [packages],
    absWorkingDir: ROOT,
    preserveSymlinks: true,
    logLevel: "warning",
    plugins: parts === null ? [] : [lateParts(parts)],
  });
  const [output] = result.outputFiles;
  await Deno.writeTextFile(target, hideImports(output!.text));
  return output!.contents.length;
}

function lateParts(folder: string): esbuild.Plugin {
  return {
    name: "late-parts",
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ kind, path }) => {
        const part = kind === "dynamic-import" ? LATE[path] : undefined;
        return part === undefined ? undefined : { path: `${folder}/${part}.js`, external: true };
      });
    },
  };
}

/**
 * Deno reads and analyses every file whose name it can tell in advance, so a start would pay for all parts. An import
 * whose name has to be computed is loaded when it comes to it.
 */
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
  for (
    const [name, size] of [
      ["dist/flemma.js", await bundleProgram(`${ROOT}/dist/flemma.js`)],
      ["dist/mod.js", await bundleLibrary(`${ROOT}/dist/mod.js`)],
    ] as const
  ) print(`${name}  ${(size / 1024).toFixed(1)} KB`);
}
