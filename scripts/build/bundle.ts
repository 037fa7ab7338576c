// Bundles the command line and the library into minified files.
//
// A bundle is built for the browser platform without `process`: packages then use their smaller builds, and none loads
// the Node layer at start. The program is split into a few files by what a run needs (docs/project/architecture.md, start-up).

import * as esbuild from "esbuild";
import { relative, resolve } from "node:path";
import { calledFunctions } from "./called.ts";
import { compiledEagerly } from "./eager.ts";
import { bareName, bareNames, mcpShims } from "./packages.ts";
import { joined, type Piece, pieceOfEach } from "./pieces.ts";
import { ROOT } from "../gate/root.ts";

interface Graph {
  readonly npmPackages: Readonly<Record<string, { readonly name: string; readonly localPath: string }>>;
}

/** The files that the command line loads late. The module graph decides which modules each file contains. */
const PIECES: readonly Piece[] = [
  {
    name: "main",
    roots: [
      "commands/main.ts",
      "commands/start/older_runtime.ts",
      "commands/line/suggestion.ts",
    ],
  },
  { name: "help", roots: ["commands/line/help.ts"], on: ["main"] },
  // Piece for every command that reads a document.
  { name: "reading", roots: ["commands/read/parse.ts", "commands/io/piped_document.ts"], on: ["main"] },
  {
    name: "status",
    roots: ["commands/read/status/many.ts"],
    on: ["reading"],
  },
  {
    name: "check",
    roots: [
      "commands/read/check.ts",
      "config/document/lua_limits.ts",
      "prompt/template/document_lua.ts",
    ],
    on: ["reading"],
  },
  // Piece with what a session needs of the texts of settings, without the code that reads them.
  { name: "words", roots: [], on: ["reading"] },
  {
    name: "layers",
    roots: [
      "config/sources/assemble.ts",
      "config/sources/yaml.ts",
      "config/document/authority.ts",
      "agent/rules/session_rules.ts",
    ],
    on: ["words"],
  },
  {
    name: "templates",
    roots: [
      "config/document/first_block.ts",
      "config/document/reserved.ts",
      "config/document/lua_block.ts",
      "lua/engine.ts",
      "prompt/template/include.ts",
      "prompt/template/run.ts",
    ],
    on: ["check", "layers"],
  },
  { name: "sandbox", roots: ["sandbox/mod.ts", "commands/read/status/json.ts"], on: ["status"] },
  {
    name: "session",
    roots: [
      "agent/open.ts",
      "agent/tools.ts",
      "commands/write/approve.ts",
      "commands/write/reject.ts",
      "commands/document/open.ts",
      "commands/read/status/opened.ts",
    ],
    on: ["status", "words", "sandbox"],
  },
  { name: "rules", roots: ["tools/approval/rules/mod.ts"], on: ["session"] },
  {
    name: "running",
    roots: [
      "commands/run/many/advance.ts",
      "commands/run/advance.ts",
      "commands/run/execute.ts",
      "commands/run/forms.ts",
      "commands/run/send.ts",
      "cycle/send/send.ts",
      "agent/runtime/cancel/hear.ts",
      "agent/trust/approval_origins.ts",
      "agent/trust/committed.ts",
    ],
    on: ["session", "check"],
  },
  {
    name: "anthropic",
    roots: ["providers/anthropic/provider.ts", "providers/registry.ts", "providers/keys/resolvers.ts"],
    on: ["running"],
  },
  {
    name: "other",
    roots: ["commands/", "agent/", "cycle/", "providers/", "tools/", "config/"],
    on: ["anthropic", "rules", "templates"],
  },
];

/** Data and packages that few runs need and that no other part shares, each in a separate file. */
const ALONE: Readonly<Record<string, string>> = {
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
  "sandbox/kernel/launcher.generated.ts": "landlock",
  "providers/replay/strict/mod.ts": "strict",
};

/**
 * Bundles the command line into the file `target`, and its late parts into a folder of the same name; returns the total
 * size in bytes.
 */
export async function bundleProgram(target: string): Promise<number> {
  const program = { root: ROOT, entry: "cli.ts", pieces: PIECES, alone: ALONE };
  const files = await bundle(program, target, await linkPackages("cli.ts"));
  await esbuild.stop();
  const called = await calledFunctions(target, files);
  let size = 0;
  for (const file of files) {
    const code = compiledEagerly(await Deno.readTextFile(file), called.get(file) ?? new Map());
    await Deno.writeTextFile(file, code);
    size += code.length;
  }
  return size;
}

export interface Program {
  readonly root: string;
  /** The program's first module, which loads only the roots of the first piece late. */
  readonly entry: string;
  readonly pieces: readonly Piece[];
  /**
   * Names of the files for late modules in separate files, by the path of the module from the root of the project, or
   * by its package.
   */
  readonly alone: Readonly<Record<string, string>>;
}

/**
 * Bundles a program into the files that it names, with each module in one file; returns their paths.
 * @throws if one of the late files is not loaded late: its content would be in another file as well
 */
export async function bundle(program: Program, target: string, packages: string): Promise<string[]> {
  const { root, entry, pieces } = program;
  const folder = target.replace(/\.js$/, "");
  const name = folder.slice(folder.lastIndexOf("/") + 1);
  const place = folder.slice(0, -name.length);
  const alone = new Map<string, string>();
  const chunks = await Deno.makeTempDir({ prefix: "flemma-chunks-" });
  try {
    const { outputFiles, metafile } = await esbuild.build({
      ...optionsOf(packages, [aloneModules({ root, alone: program.alone, met: alone }), bareNames]),
      entryPoints: [`${root}/${entry}`],
      absWorkingDir: root,
      outdir: chunks,
      splitting: true,
      minify: false,
      minifySyntax: true,
      metafile: true,
    });
    const met = new Set(alone.values());
    const missed = Object.entries(program.alone).filter(([, file]) => !met.has(file)).map(([module]) =>
      module
    );
    if (missed.length > 0) {
      throw new Error(`nothing loads ${missed.join(" or ")} late: correct ALONE or the import`);
    }
    for (const { path, text } of outputFiles) await write(path, text);
    const files = pieceOfEach({ outputs: metafile.outputs, entry, pieces, alone });
    const absolute = new Map([...files].map(([chunk, file]) => [resolve(root, chunk), file]));
    const first = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry)![0];
    await Deno.mkdir(folder, { recursive: true });
    const made: string[] = [];
    for (
      const [path, text] of await joined(resolve(root, first), name, (chunk) => absolute.get(chunk))
    ) {
      const { code } = await esbuild.transform(text, { format: "esm", target: LANGUAGE, minify: true });
      await write(`${place}${path}`, hideImports(code));
      made.push(`${place}${path}`);
    }
    return made;
  } finally {
    await Deno.remove(chunks, { recursive: true });
  }
}

/**
 * Late parts of the library, and their files. Runtimes other than Deno load all other parts, so these are one file.
 * Programs without MCP servers should not load the MCP client.
 */
const LIBRARY_ALONE: Readonly<Record<string, string>> = { "tools/mcp/client.ts": "advanced/mcp" };

/**
 * Bundles what other programs import into one file, and rarely needed parts into files next to it; returns the total
 * size in bytes. Late imports keep literal names, because bundlers of those programs must find them.
 * @param entry module of the library, a path from the root of the project
 * @param external packages that are excluded, because the importing program has them
 * @throws if one of the late files is not loaded late: its content would be in the first file as well
 */
export async function bundleLibrary(
  target: string,
  { entry = "advanced.ts", external = [] }: { entry?: string; external?: readonly string[] } = {},
): Promise<number> {
  const packages = await linkPackages(entry);
  const alone = entry === "advanced.ts" ? LIBRARY_ALONE : {};
  const met = new Set<string>();
  const parts = lateParts({ root: ROOT, alone, met });
  const folder = target.slice(0, target.lastIndexOf("/"));
  const files = new Map([[entry, target]]);
  for (const [module, name] of Object.entries(alone)) files.set(module, `${folder}/${name}.js`);
  let size = 0;
  // The format needs no system functions, and its bundles are for browsers too.
  const inject = entry.startsWith("parser/") ? [] : [SYSTEM];
  for (const [module, file] of files) {
    const text = await bundled(`${ROOT}/${module}`, file, packages, parts, { external, inject });
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(file, text);
    size += text.length;
  }
  await esbuild.stop();
  const missed = Object.keys(alone).filter((module) => !met.has(module));
  if (missed.length > 0) throw new Error(`nothing loads ${missed.join(" or ")} late: mend the import`);
  return size;
}

/** Bundles a module with everything that it needs; returns the text. */
export async function bundleText(entry: string): Promise<string> {
  const packages = await linkPackages(entry, `${ROOT}/.cache/${entry.replaceAll("/", "_")}`);
  const text = await bundled(`${ROOT}/${entry}`, `${ROOT}/dist/one.js`, packages, null);
  await esbuild.stop();
  return text;
}

/**
 * Returns the packages that a bundle of this module would include, each with its folder.
 * @param entry its module, a path from the root of the project
 * @param external packages that are excluded, with their dependencies
 */
export async function packagesIn(entry: string, external: readonly string[]): Promise<Map<string, string>> {
  const links = await linkPackages(entry, `${ROOT}/.cache/${entry.replaceAll("/", "_")}`);
  const { outputs } = await esbuild.build({
    ...optionsOf(links, [bareNames], external),
    entryPoints: [entry],
    outfile: `${ROOT}/dist/one.js`,
    metafile: true,
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

/** Module with the system functions of a library bundle, which runs in other runtimes too. */
const SYSTEM = `${ROOT}/base/system/node/bundled.ts`;

const LANGUAGE = "es2022";

/** The program needs its name and version, and nothing else of `deno.json`. */
const manifest: esbuild.Plugin = {
  name: "manifest",
  setup(build) {
    build.onLoad({ filter: /[\\/]deno\.json$/ }, async ({ path }) => {
      const { name, version } = JSON.parse(await Deno.readTextFile(path));
      return { contents: JSON.stringify({ name, version }), loader: "json" };
    });
  },
};

function optionsOf(packages: string, plugins: esbuild.Plugin[], external: readonly string[] = []) {
  return {
    write: false,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: LANGUAGE,
    minify: true,
    legalComments: "none",
    external: ["node:*", ...external],
    define: { process: "undefined" },
    nodePaths: [packages],
    absWorkingDir: ROOT,
    preserveSymlinks: true,
    logLevel: "warning",
    plugins: [manifest, mcpShims, ...plugins],
  } as const satisfies esbuild.BuildOptions;
}

async function bundled(
  entry: string,
  target: string,
  packages: string,
  parts: esbuild.Plugin | null,
  { external = [], inject = [] }: { readonly external?: readonly string[]; readonly inject?: string[] } = {},
): Promise<string> {
  const plugins = parts === null ? [bareNames] : [parts, bareNames];
  const { outputFiles: [file] } = await esbuild.build({
    ...optionsOf(packages, plugins, external),
    inject,
    entryPoints: [entry],
    outfile: target,
  });
  return file!.text;
}

async function write(path: string, text: string): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, text);
}

/** Records in `met` which modules get a separate file: esbuild's name, and the file name. */
function aloneModules(
  { root, alone, met }: Pick<Program, "root" | "alone"> & { readonly met: Map<string, string> },
): esbuild.Plugin {
  return {
    name: "alone-modules",
    setup(build) {
      build.onResolve({ filter: /.*/ }, async ({ kind, path, importer, resolveDir, pluginData }) => {
        if (kind !== "dynamic-import" || pluginData === "asked") return undefined;
        const module = path.startsWith(".") ? pathIn(root, path, resolveDir) : bareName(path);
        if (!Object.hasOwn(alone, module)) return undefined;
        const place = path.startsWith(".") ? path : module;
        const found = await build.resolve(place, { kind, importer, resolveDir, pluginData: "asked" });
        met.set(relative(root, found.path), alone[module]!);
        return found;
      });
    },
  };
}

/** Excludes modules with a separate file, and records them in `met`. */
function lateParts(
  { root, alone, met }: Pick<Program, "root" | "alone"> & { readonly met: Set<string> },
): esbuild.Plugin {
  return {
    name: "late-parts",
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ kind, path, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const module = path.startsWith(".") ? pathIn(root, path, resolveDir) : bareName(path);
        if (!Object.hasOwn(alone, module)) return undefined;
        met.add(module);
        return { path: `./${alone[module]}.js`, external: true };
      });
    },
  };
}

function pathIn(root: string, path: string, folder: string): string {
  return new URL(path, `file://${folder}/`).pathname.slice(root.length + 1);
}

/**
 * Deno reads and analyzes every file with a literal import name at start. An import with a computed name is loaded when
 * it is executed.
 */
function hideImports(code: string): string {
  return code.replace(/\bimport\(("\.[^"]+")\)/g, "import([$1][0])");
}

/** Creates a folder of links in which a bundler finds the exact packages that the lock file pins. */
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
    // Several builds may share the folder, so links are replaced atomically.
    const fresh = `${link}.${crypto.randomUUID()}`;
    await Deno.symlink(localPath, fresh);
    await Deno.rename(fresh, link);
  }
  return folder;
}
