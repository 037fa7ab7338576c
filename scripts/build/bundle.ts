// Bundles: minified files of the command line and of the library.
//
// A bundle is built for the browser platform with `process` defined away: the packages then take their lean builds, and
// none of them wakes up the Node layer at start. The program is cut into few files along what a run needs: one piece of
// 800 KB costs help and version more than the empty program does, forty pieces cost the commands as much
// (docs/architecture.md has the figures).

import * as esbuild from "esbuild";
import { calledFunctions } from "./called.ts";
import { compiledEagerly } from "./eager.ts";
import { bareName, bareNames } from "./packages.ts";
import { ROOT } from "../gate/root.ts";

interface Graph {
  readonly npmPackages: Readonly<Record<string, { readonly name: string; readonly localPath: string }>>;
}

/** A file that is loaded late. */
interface LateFile {
  readonly name: string;
  /** Modules that are loaded late in it and that nothing in it ever asks for. An import of one fails. */
  readonly without?: readonly string[];
}

/** A file that is loaded late; a name alone where nothing is left out. */
type Late = string | LateFile;

function lateFile(late: Late): LateFile {
  return typeof late === "string" ? { name: late } : late;
}

/**
 * What the command line loads late, each as one file: what the import that asks for it comes to, a path from the root of
 * the project or a package, and the file.
 */
const LATE: Readonly<Record<string, Late>> = {
  "commands/load.ts": "commands",
  "commands/pieces/older_runtime.ts": "older",
  "commands/pieces/quick.ts": "quick",
  "commands/pieces/deciding.ts": {
    name: "deciding",
    without: [
      "cycle/send/send.ts",
      "cycle/send/request.ts",
      "cycle/send/estimate.ts",
      "providers/registry.ts",
    ],
  },
  "lua/interpreter.generated.ts": "lua",
  "unbash": "unbash",
  "yaml": "yaml",
  "ajv": "ajv",
  "ajv/dist/2020.js": "ajv2020",
  "tools/mcp/client.ts": "mcp",
  "ignore": "ignore",
  "markdown-it": "markdown",
  "re2js": "re2js",
  "tools/files/helper.generated.ts": "files",
};

/**
 * Bundles the command line into the file `target` and what it loads late into a folder of the same name; answers the
 * size of all together in bytes.
 *
 * Help and version need the first file alone. Commands that only read have one of their own, and so have those that only
 * look at calls and decide: what the rest of the program needs is left out there. All others share one, in which modules
 * still come to life only when they are imported: reading forty small files took longer than reading one. Data and
 * packages that few runs need stand apart.
 */
export async function bundleProgram(target: string): Promise<number> {
  await bundle({ root: ROOT, entry: "cli.ts", late: LATE }, target, await linkPackages("cli.ts"));
  await esbuild.stop();
  const folder = target.replace(/\.js$/, "");
  const files = [target, ...Object.values(LATE).map((late) => `${folder}/${lateFile(late).name}.js`)];
  const called = await calledFunctions(target, files);
  let size = 0;
  for (const file of files) {
    const code = compiledEagerly(await Deno.readTextFile(file), called.get(file) ?? new Map());
    await Deno.writeTextFile(file, code);
    size += code.length;
  }
  return size;
}

/** A program to be bundled: its folder, its first module, and what of it makes files of its own. */
export interface Program {
  readonly root: string;
  readonly entry: string;
  readonly late: Readonly<Record<string, Late>>;
}

/**
 * Bundles a program in as many files as it says; answers the size of all together in bytes.
 *
 * @throws When nothing loads one of the late files late: what it holds would be in another file as well. When a file
 * goes without a module that it would not hold anyway.
 */
export async function bundle(
  { root, entry, late }: Program,
  target: string,
  packages: string,
): Promise<number> {
  const folder = target.replace(/\.js$/, "");
  const name = folder.slice(folder.lastIndexOf("/") + 1);
  const met = new Set<string>();
  await Deno.mkdir(folder, { recursive: true });
  const part = (from: string, without: readonly string[] = []) =>
    lateParts({ root, late, from, met, without: new Set(without) });
  let size = await build(`${root}/${entry}`, target, packages, part(`./${name}`));
  for (const [module, each] of Object.entries(late)) {
    const path = module.endsWith(".ts") ? `${root}/${module}` : module;
    const { name, without } = lateFile(each);
    size += await build(path, `${folder}/${name}.js`, packages, part(".", without));
  }
  const named = Object.values(late).flatMap((each) => lateFile(each).without ?? []);
  const missed = [...Object.keys(late), ...named].filter((module) => !met.has(module));
  if (missed.length > 0) {
    throw new Error(`nothing loads ${missed.join(" or ")} late: mend LATE or the import`);
  }
  return size;
}

/**
 * Bundles what other programs import into one file; answers its size in bytes.
 *
 * @param entry its module, a path from the root of the project
 * @param external packages that are left out, because that program has them
 */
export async function bundleLibrary(
  target: string,
  { entry = "mod.ts", external = [] }: { entry?: string; external?: readonly string[] } = {},
): Promise<number> {
  const size = await build(`${ROOT}/${entry}`, target, await linkPackages(entry), null, external);
  await esbuild.stop();
  return size;
}

/** Bundles a module with all that it needs; answers the text. */
export async function bundleText(entry: string): Promise<string> {
  const packages = await linkPackages(entry, `${ROOT}/.cache/${entry.replaceAll("/", "_")}`);
  const { text } = await bundled(`${ROOT}/${entry}`, `${ROOT}/dist/one.js`, packages, null);
  await esbuild.stop();
  return text;
}

/**
 * The packages of which a bundle of this module would hold something, each with the folder where it lies.
 *
 * @param entry its module, a path from the root of the project
 * @param external packages that are left out, with those that they need
 */
export async function packagesIn(entry: string, external: readonly string[]): Promise<Map<string, string>> {
  const links = await linkPackages(entry, `${ROOT}/.cache/${entry.replaceAll("/", "_")}`);
  const { outputs } = await esbuild.build({
    ...options(entry, `${ROOT}/dist/one.js`, links, external),
    metafile: true,
    plugins: [bareNames],
  }).then(({ metafile }) => metafile);
  await esbuild.stop();
  const found = new Map<string, string>();
  for (
    const [path, { bytesInOutput }] of Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs))
  ) {
    const name = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    if (name !== undefined && bytesInOutput > 0) found.set(name, await Deno.realPath(`${links}/${name}`));
  }
  return found;
}

/**
 * What a library begins with. Other runtimes than Deno load all of it, and use what needs no system; the rest says at its
 * first look at the system why it cannot go on.
 */
const WITHOUT_SYSTEM = 'const Deno=globalThis.Deno??new Proxy({},{get(){throw new Error("' +
  "flemma needs Deno for this, because files, commands and requests are there only." + '")}});\n';

/** Makes one file. `parts` leaves out what is loaded late; null when all is to be in the file. */
async function build(
  entry: string,
  target: string,
  packages: string,
  parts: esbuild.Plugin | null,
  external: readonly string[] = [],
): Promise<number> {
  const { text, contents } = await bundled(entry, target, packages, parts, external);
  await Deno.writeTextFile(target, (parts === null ? WITHOUT_SYSTEM : "") + hideImports(text));
  return contents.length;
}

async function bundled(
  entry: string,
  target: string,
  packages: string,
  parts: esbuild.Plugin | null,
  external: readonly string[] = [],
): Promise<esbuild.OutputFile> {
  const result = await esbuild.build({
    ...options(entry, target, packages, external),
    plugins: parts === null ? [bareNames] : [parts, bareNames],
  });
  return result.outputFiles[0]!;
}

function options(entry: string, target: string, packages: string, external: readonly string[] = []) {
  return {
    entryPoints: [entry],
    outfile: target,
    write: false,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    external: ["node:*", ...external],
    define: { process: "undefined" },
    nodePaths: [packages],
    absWorkingDir: ROOT,
    preserveSymlinks: true,
    logLevel: "warning",
  } as const satisfies esbuild.BuildOptions;
}

interface Parts extends Pick<Program, "root" | "late"> {
  /** The way from the file made to the late ones. */
  readonly from: string;
  /** Told what was left out. */
  readonly met: Set<string>;
  readonly without: ReadonlySet<string>;
}

/** Leaves out what is loaded late, and what the file goes without. */
function lateParts({ root, late, from, met, without }: Parts): esbuild.Plugin {
  return {
    name: "late-parts",
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ kind, path, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const module = path.startsWith(".")
          ? new URL(path, `file://${resolveDir}/`).pathname.slice(root.length + 1)
          : bareName(path);
        if (without.has(module)) {
          met.add(module);
          return { path: module, namespace: LEFT_OUT };
        }
        if (!Object.hasOwn(late, module)) return undefined;
        met.add(module);
        return { path: `${from}/${lateFile(late[module]!).name}.js`, external: true };
      });
      build.onLoad({ filter: /.*/, namespace: LEFT_OUT }, ({ path }) => ({
        contents: `throw new Error(${JSON.stringify(`${path} is not in this part of the program`)});`,
      }));
    },
  };
}

const LEFT_OUT = "left-out";

/**
 * Deno reads and analyses every file whose name it can tell in advance, so a start would pay for all parts. An import
 * whose name has to be computed is loaded when it comes to it.
 */
function hideImports(code: string): string {
  return code.replace(/\bimport\(("\.[^"]+")\)/g, "import([$1][0])");
}

/** A folder of links in which a bundler finds the exact packages that the lock file pins. */
export async function linkPackages(entry: string, place = `${ROOT}/.cache/bundle`): Promise<string> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", entry],
    cwd: ROOT,
    stdout: "piped",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`the module graph of ${entry} could not be read`);
  const graph: Graph = JSON.parse(new TextDecoder().decode(stdout));
  const folder = `${place}/node_modules`;
  await Deno.mkdir(folder, { recursive: true });
  for (const { name, localPath } of Object.values(graph.npmPackages)) {
    const link = `${folder}/${name}`;
    await Deno.mkdir(link.slice(0, link.lastIndexOf("/")), { recursive: true });
    // Several builds may share the folder: a link is there at every moment.
    const fresh = `${link}.${crypto.randomUUID()}`;
    await Deno.symlink(localPath, fresh);
    await Deno.rename(fresh, link);
  }
  return folder;
}
