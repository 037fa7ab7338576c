// Builds the npm package: the command line for the Deno that npm installs with it, and the library for every runtime,
// with types.

import manifest from "../../deno.json" with { type: "json" };
import type { Entry } from "./bundled.ts";
import { bundleLibrary, bundleProgram, linkPackages } from "./bundle.ts";
import { ROOT } from "../gate/root.ts";
import { copyFolder, copyPages } from "./pages.ts";
import { writeReferences } from "./references.ts";
import { declarations } from "./types.ts";
import { versioned } from "./versioned.ts";

/** Modules that programs import, by file name. */
const LIBRARIES = {
  advanced: "advanced.ts",
  parser: "parser/library.ts",
  lezer: "parser/lezer/mod.ts",
} as const;

/**
 * Packages that the library shares with the importing program, because classes of these packages compare tree types.
 */
const SHARED = ["@lezer/common", "@lezer/highlight", "@lezer/markdown"];

/** Packages that an editor showing documents provides; only `flemma/lezer` needs them. */
const EDITORS = ["@codemirror/language"];

/** All bundled modules, each with the packages that it does not include. */
export const ENTRIES: readonly Entry[] = [
  { module: "cli.ts", external: [] },
  ...Object.values(LIBRARIES).map((module) => ({ module, external: [...SHARED, ...EDITORS] })),
];

/** The version of Deno in the package, with which this project is built and tested. */
const DENO = "2.9.6";

/**
 * The packages that contain Deno; npm installs the one for its machine. The package `deno` would combine them, but it
 * has an install script, which some package managers refuse.
 */
const SYSTEMS = [
  "darwin-arm64",
  "darwin-x64",
  "linux-arm64-glibc",
  "linux-x64-glibc",
  "win32-arm64",
  "win32-x64",
];

const SUMMARY = "An agent loop on plain .chat files, for any editor";

/**
 * Builds the packages, each in its own folder in `target`: `flemma`, and a variant for Windows, where npm cannot start
 * a shell script. Returns the folders.
 */
export async function buildPackages(target: string): Promise<string[]> {
  const folder = `${target}/flemma`;
  for (const name of ["bin", "lib"]) await Deno.mkdir(`${folder}/${name}`, { recursive: true });
  await bundleProgram(`${folder}/lib/flemma.js`);
  await versioned(`${folder}/lib/flemma.js`);
  for (const [name, entry] of Object.entries(LIBRARIES)) {
    await bundleLibrary(`${folder}/lib/${name}.js`, { entry, external: [...SHARED, ...EDITORS] });
  }
  const types = await declarations(Object.values(LIBRARIES), await linkPackages("parser/lezer/mod.ts"));
  for (const [index, name] of Object.keys(LIBRARIES).entries()) {
    await Deno.writeTextFile(`${folder}/lib/${name}.d.ts`, types[index]!);
  }
  await writeSelection(`${folder}/lib`);
  await writeReferences(folder);
  for (const name of ["flemma.bin", "flemma.cjs"]) {
    await Deno.copyFile(`${ROOT}/scripts/build/npm/${name}`, `${folder}/bin/${name}`);
    await Deno.chmod(`${folder}/bin/${name}`, 0o755);
  }
  await copyPages(folder);
  const windows = `${target}/flemma-windows`;
  await copyFolder(folder, windows);
  await Deno.remove(`${windows}/bin/flemma.bin`);
  await writeManifest(folder, packageManifest());
  await writeManifest(windows, windowsManifest());
  return [folder, windows];
}

/**
 * Writes the module with the names that most programs need. It loads the other module, so that a program that uses both
 * has one registry of tools.
 */
async function writeSelection(folder: string): Promise<void> {
  const source = await Deno.readTextFile(`${ROOT}/mod.ts`);
  const declared = source.replaceAll('"./advanced.ts"', '"./advanced.js"');
  await Deno.writeTextFile(`${folder}/mod.d.ts`, declared);
  await Deno.writeTextFile(`${folder}/mod.js`, declared.replace(/^export type \{[^}]*\} from .*$/gm, ""));
}

/** Returns the package.json. It has no install scripts. */
export function packageManifest(): Record<string, unknown> {
  const library = (name: string) => ({ types: `./lib/${name}.d.ts`, default: `./lib/${name}.js` });
  return {
    name: manifest.name,
    version: manifest.version,
    description: SUMMARY,
    keywords: ["agent", "chat", "cli", "editor", "llm"],
    license: manifest.license,
    type: "module",
    bin: { flemma: "bin/flemma.bin" },
    man: "./flemma.1",
    exports: {
      ".": library("mod"),
      "./advanced": library("advanced"),
      "./parser": library("parser"),
      "./lezer": library("lezer"),
      "./schemas/*": "./schemas/*",
      "./package.json": "./package.json",
    },
    engines: { node: ">=20", deno: ">=2.4.2" },
    dependencies: ranges(SHARED),
    optionalDependencies: Object.fromEntries(SYSTEMS.map((system) => [`@deno/${system}`, DENO])),
    peerDependencies: ranges(EDITORS),
    peerDependenciesMeta: Object.fromEntries(EDITORS.map((name) => [name, { optional: true }])),
    // Package managers must unpack the package, because programs cannot be started from an archive.
    preferUnplugged: true,
  };
}

function windowsManifest(): Record<string, unknown> {
  const { man: _, ...manifest } = packageManifest();
  return { ...manifest, name: `${manifest.name}-windows`, bin: { flemma: "bin/flemma.cjs" }, os: ["win32"] };
}

async function writeManifest(folder: string, content: Record<string, unknown>): Promise<void> {
  await Deno.writeTextFile(`${folder}/package.json`, `${JSON.stringify(content, null, 2)}\n`);
}

/** Returns version ranges that are compatible with the pinned versions. */
function ranges(names: readonly string[]): Record<string, string> {
  const pinned: Readonly<Record<string, string>> = manifest.imports;
  return Object.fromEntries(
    names.map((name) => [name, `^${pinned[name]!.slice(pinned[name]!.lastIndexOf("@") + 1)}`]),
  );
}
