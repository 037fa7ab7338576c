// The library's types as one declaration file for each entry, for compilers other than Deno's.

import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import ts from "typescript";
import { ROOT } from "../gate/root.ts";
import { bareName } from "./packages.ts";

/**
 * Generates the declarations of modules, each with everything it exports in one text; packages stay imports.
 * @param entries paths of the modules from the root of the project
 * @param packages the folder in which packages are found
 * @returns the texts, in the order of the entries
 */
export async function declarations(entries: readonly string[], packages: string): Promise<string[]> {
  const folder = await Deno.makeTempDir({ prefix: "flemma-types-" });
  try {
    declare(entries.map((entry) => `${ROOT}/${entry}`), packages, folder);
    const texts: string[] = [];
    for (const entry of entries) texts.push(await gathered(declarationOf(`${folder}/${entry}`)));
    return texts;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Writes the declarations of modules and all their imports into a folder. It does not check types, because the gate
 * does.
 */
function declare(modules: readonly string[], packages: string, folder: string): void {
  const program = ts.createProgram([...modules], {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.esnext.d.ts"],
    types: [],
    paths: { "*": [`${packages}/*`] },
    strict: true,
    noCheck: true,
    skipLibCheck: true,
    resolveJsonModule: true,
    allowImportingTsExtensions: true,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: ROOT,
    outDir: folder,
  });
  program.emit();
}

/** Returns everything that a module exports, in one text without anything else. */
async function gathered(declaration: string): Promise<string> {
  const bySource = {
    name: "by-source",
    resolveId(path: string, from: string | undefined) {
      if (from === undefined) return path;
      if (path.startsWith(".")) return declarationOf(new URL(path, `file://${from}`).pathname);
      return { id: bareName(path), external: true };
    },
  };
  const made = await rollup({ input: declaration, plugins: [bySource, dts()] });
  const { output: [chunk, ...more] } = await made.generate({ format: "es" });
  if (more.length > 0) throw new Error(`the types of ${declaration} do not fit into one file`);
  return chunk.code;
}

function declarationOf(module: string): string {
  return module.replace(/\.ts$/, ".d.ts");
}
